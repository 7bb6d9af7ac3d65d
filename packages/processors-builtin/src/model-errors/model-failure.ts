// What a failed model call means, whichever provider it was: its kind, and when it makes sense to call again.

/** Why a model call failed. */
export type FailureKind =
  /** Too many calls, at the moment. */
  | 'rate-limit'
  /** The provider has no room at the moment. */
  | 'overloaded'
  /** The provider's own error. */
  | 'server'
  /** Nothing came in time. */
  | 'timeout'
  /** The connection failed, or the answer broke off. */
  | 'network'
  /** Nothing is left on the account; waiting does not help. */
  | 'quota'
  /** The key is wrong, or it may not do this. */
  | 'auth'
  /** There is no such model. */
  | 'not-found'
  /** The prompt is longer than the model can read. */
  | 'overflow'
  /** The request is not as the provider wants it. */
  | 'invalid'
  | 'unknown'

/** A failed model call, read. */
export interface ModelFailure {
  readonly kind: FailureKind
  readonly statusCode: number | undefined
  /** What the provider said, all of it. */
  readonly text: string
  /** When to call again, if the provider said it. */
  readonly retryAfterMs: number | undefined
  /** The provider said that calling again does not help. */
  readonly forbidsRetry: boolean
  /** The provider's error, raw. */
  readonly error: unknown
}

/** Reads a provider's error. Units: `now` in milliseconds, for times of day that the provider names. */
export function readFailure(error: unknown, now: number): ModelFailure {
  const layers = layersOf(error)
  const statusCode = first(layers, layer => numberIn(layer['statusCode']) ?? numberIn(layer['status']))
  const headers = first(layers, layer => layer['responseHeaders'] as Headers | undefined) ?? {}
  const text = typeof error === 'string' ? error : layers.flatMap(textsOf).join('\n')
  const isRetryable = layers.some(layer => layer['isRetryable'] === true)
  return {
    kind: kindOf(text, statusCode) ?? (isRetryable ? 'network' : 'unknown'),
    statusCode,
    text,
    retryAfterMs: delayInHeaders(headers, now) ?? delayInText(text),
    forbidsRetry: headers['x-should-retry'] === 'false',
    error,
  }
}

type Layer = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string | undefined>>

const maxDepth = 5

/** An error and what is inside of it: its causes, and what stream errors carry as `error`. */
function layersOf(error: unknown): readonly Layer[] {
  const layers: Layer[] = []
  for (let layer = error; typeof layer === 'object' && layer !== null && layers.length < maxDepth;) {
    layers.push(layer as Layer)
    const { cause, error: inner, lastError } = layer as Layer
    layer = cause ?? inner ?? lastError
  }
  return layers
}

function textsOf({ name, message, code, type, responseBody, data, error }: Layer): readonly string[] {
  const body = responseBody ?? (data === undefined ? undefined : jsonOf(data))
  return [name, code, type, message, body, error].filter(item => typeof item === 'string')
}

/** Texts of which each says what kind of failure it is; the first one counts, before the status. */
const words: readonly (readonly [FailureKind, RegExp])[] = [
  [
    'quota',
    /insufficient_quota|billing_error|billing_hard_limit|credit balance is too low|insufficient (balance|credits|funds)|payment required/i,
  ],
  [
    'overflow',
    /context[_ ](length|window)[_ ]exceeded|maximum (context|prompt|allowed input) length|prompt is too long|prompt too long|input is too long|exceed(s|ed)? (the )?(model'?s )?(available )?(context (window|size|length)|max(imum)? context|model token limit)|input token count.{0,60}exceeds|input tokens exceed|longer than the model'?s context|context length is only|greater than the context length|context window exceeds|exceed context limit|reduce the length of the (messages|input|prompt)|token count of \d+ exceeds the limit|too large for model with|configured context size|range of input length should be|request_too_large/i,
  ],
  ['rate-limit', /rate[_ -]?limit|too many requests|resource[_ ]exhausted|throttl/i],
  ['overloaded', /overloaded|over capacity|capacity exceeded|service[_ ]unavailable|slow_down/i],
  ['timeout', /TimeoutError|timed out|timeout_error|deadline[_ ]exceeded|ETIMEDOUT|UND_ERR_\w*TIMEOUT/i],
  [
    'network',
    /ECONN(RESET|REFUSED|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_SOCKET|fetch failed|socket hang up|other side closed|\bterminated\b|network error|premature close|incomplete-stream|ended without a finish reason|Cannot connect to API/i,
  ],
  ['server', /internal[_ ]server[_ ]error|server_error|api_error|internal error/i],
  ['not-found', /model_not_found|not_found_error/i],
  ['auth', /authentication_error|permission_error|invalid_api_key|incorrect api key/i],
]

/** What a status says for itself. Of the others the words say more: an invalid request can mean anything. */
const statuses: Readonly<Record<number, FailureKind>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'not-found',
  408: 'timeout',
  409: 'server',
  413: 'overflow',
  425: 'overloaded',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
}

function kindOf(text: string, statusCode: number | undefined): FailureKind | undefined {
  const said = words.find(([, pattern]) => pattern.test(text))?.[0]
  if (statusCode === undefined) return said
  if (said === 'quota' || (said === 'overflow' && (statusCode === 400 || statusCode >= 500 || statusCode === 422)))
    return said
  const meant = statuses[statusCode]
  if (meant !== undefined) return meant
  if (statusCode >= 500) return 'server'
  // A stream that was opened with 200 can break off like any other.
  return statusCode >= 400 ? 'invalid' : said
}

function delayInHeaders(headers: Headers, now: number): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (ms >= 0) return ms
  const after = headers['retry-after']?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1_000
  const date = Date.parse(after)
  return date >= now ? date - now : undefined
}

const hint =
  /(?:retryDelay"?\s*:\s*"|(?:try|retry)(?: again)? (?:in|after) )((?:\d+(?:\.\d+)?\s?(?:ms|millis\w*|s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?)?)(?![a-z])\s?)+)/i

/** "Please try again in 6m0s." · "retryDelay": "37s" · "Please retry in 41.5s." */
function delayInText(text: string): number | undefined {
  const said = hint.exec(text)?.[1]
  if (said === undefined) return undefined
  const pieces = said.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/g)
  return [...pieces].reduce((sum, [, count, unit]) => sum + Number(count) * unitInMs(unit!), 0)
}

function unitInMs(unit: string): number {
  if (unit === 'ms' || unit.startsWith('milli')) return 1
  if (unit.startsWith('s')) return 1_000
  return unit.startsWith('m') ? 60_000 : 3_600_000
}

function first<T>(layers: readonly Layer[], read: (layer: Layer) => T | undefined): T | undefined {
  for (const layer of layers) {
    const value = read(layer)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
