// Conversations of every kind that the format allows, for the laws.
import fc from 'fast-check'
import { MessageList, type AgentMessageInput, type MessageSource } from '@lockstep/message-list'

const word = fc.stringMatching(/^[a-z]{1,6}$/)
const text = fc.oneof(word, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant(''))
/** Any JSON but the key that the list refuses. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map(value => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')))
const metadata = fc.record(
  { openai: fc.record({ itemId: word }), anthropic: fc.record({ signature: word, cacheControl: json }) },
  { requiredKeys: [] },
)
const optionalMetadata = { providerMetadata: fc.option(metadata, { nil: undefined }) }
const address = fc.oneof(
  fc.base64String({ minLength: 4, maxLength: 12 }).map(data => `data:image/png;base64,${data}`),
  fc.webUrl(),
)

const file = fc.record({
  type: fc.constant('file' as const),
  mediaType: fc.constantFrom('image/png', 'application/pdf'),
  url: address,
  ...optionalMetadata,
})
const userPart = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('text' as const), text, ...optionalMetadata }) },
  { weight: 1, arbitrary: file },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('data-note' as const), data: json }) },
)

const approval = (approved: boolean): fc.Arbitrary<object> =>
  fc.record({ id: word, approved: fc.constant(approved) }).map(answer => ({ ...answer, reason: 'because' }))

const outcome: fc.Arbitrary<object> = fc.oneof(
  fc.record({ state: fc.constant('input-streaming'), input: json }),
  fc.constant({ state: 'input-available' }),
  fc.record({ state: fc.constant('approval-requested'), approval: fc.record({ id: word, requestReason: word }) }),
  fc.record({ state: fc.constant('approval-responded'), approval: fc.oneof(approval(true), approval(false)) }),
  fc.record({ state: fc.constant('output-available'), output: json }),
  fc.record({ state: fc.constant('output-available'), output: json, approval: approval(true) }),
  fc.record({ state: fc.constant('output-error'), errorText: text }),
  fc.record({ state: fc.constant('output-denied'), approval: approval(false) }),
  fc.record({
    state: fc.constant('output-available'),
    output: json,
    modelOutput: fc.record({
      type: fc.constant('content'),
      value: fc.array(
        fc.oneof(
          fc.record({ type: fc.constant('text'), text: word }),
          fc.record({
            type: fc.constant('file'),
            mediaType: fc.constant('image/png'),
            data: fc.record({ type: fc.constant('url'), url: address }),
          }),
        ),
      ),
    }),
  }),
)

const toolPart = fc
  .record({
    name: fc.constantFrom('search', 'fetch-page'),
    dynamic: fc.boolean(),
    input: fc.dictionary(word, json),
    outcome,
    metadata: fc.option(metadata, { nil: undefined }),
  })
  .map(({ name, dynamic, input, outcome: became, metadata: callProviderMetadata }) => ({
    ...(dynamic ? { type: 'dynamic-tool', toolName: name } : { type: `tool-${name}` }),
    toolCallId: '',
    input,
    ...became,
    ...(callProviderMetadata === undefined ? {} : { callProviderMetadata }),
  }))

const assistantPart: fc.Arbitrary<{ readonly type: string }> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text, ...optionalMetadata }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('reasoning'), text, ...optionalMetadata }) },
  { weight: 5, arbitrary: toolPart },
  { weight: 2, arbitrary: fc.constant({ type: 'step-start' }) },
  { weight: 1, arbitrary: file },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('custom'), kind: fc.constant('openai.compaction'), ...optionalMetadata }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('source-url'), sourceId: word, url: fc.webUrl() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('data-progress'), data: json }) },
)

/** A message with everything that a stored one can have, and tool calls whose ids nobody else uses. */
const draft = fc.oneof(
  fc.record({
    role: fc.constant('user' as const),
    parts: fc.array(userPart, { minLength: 1, maxLength: 3 }),
    metadata: fc.option(fc.record({ note: word }), { nil: undefined }),
    ofMessage: fc.option(metadata, { nil: undefined }),
  }),
  fc.record({
    role: fc.constant('assistant' as const),
    parts: fc.array(assistantPart, { minLength: 1, maxLength: 8 }),
    metadata: fc.option(fc.record({ note: word }), { nil: undefined }),
    ofMessage: fc.option(metadata, { nil: undefined }),
  }),
)

/** Messages in the stored format, with ids m0, m1, …, and call ids c0.0, c0.1, … */
export const messages: fc.Arbitrary<readonly AgentMessageInput[]> = fc.array(draft, { maxLength: 8 }).map(drafts =>
  drafts.map(({ role, parts, metadata: noted, ofMessage }, position) => ({
    id: `m${position}`,
    role,
    createdAt: '2026-01-01T00:00:00.000Z',
    content: {
      format: 2 as const,
      parts: parts.map((part, index) =>
        'toolCallId' in part ? { ...part, ...unique(part, `${position}.${index}`) } : part,
      ) as never,
      ...(noted === undefined ? {} : { metadata: noted }),
      ...(ofMessage === undefined ? {} : { providerMetadata: ofMessage }),
    },
  })),
)

function unique(part: object, id: string): object {
  return 'approval' in part
    ? { toolCallId: `c${id}`, approval: { ...(part.approval as object), id: `a${id}` } }
    : { toolCallId: `c${id}` }
}

export const source: fc.Arbitrary<MessageSource> = fc.constantFrom('input', 'response', 'memory', 'context')

/** A list whose ids and times are the same in every run. */
export function newList(options: { readonly threadId?: string; readonly resourceId?: string } = {}): MessageList {
  let id = 0
  return new MessageList({
    ...options,
    generateId: () => `new-${++id}`,
    now: () => new Date('2026-01-01T00:00:00.000Z'),
  })
}

/** A list with messages of every source. */
export const list: fc.Arbitrary<MessageList> = fc
  .tuple(messages, fc.array(source, { minLength: 8, maxLength: 8 }))
  .map(([given, sources]) => {
    const made = newList()
    for (const [index, message] of given.entries()) made.add(message, sources[index]!)
    return made
  })
