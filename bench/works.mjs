// The work that every contestant does, and the scripted model that it does it with.

/** Each work: how many units it has, and the steps or chunks that make them. */
export const works = {
  'steps-50': { unit: 'step', count: 50, steps: 50, deltas: 1, history: 0 },
  'steps-200': { unit: 'step', count: 200, steps: 200, deltas: 1, history: 0 },
  'steps-20-after-4000': { unit: 'step', count: 20, steps: 20, deltas: 1, history: 4000 },
  'chunks-20000': { unit: 'chunk', count: 20_000, steps: 0, deltas: 20_000, history: 0 },
  'chunks-20000-processors-5': { unit: 'chunk', count: 20_000, steps: 0, deltas: 20_000, history: 0, processors: 5 },
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model of the V4 specification that calls a tool `steps` times and then answers in `deltas` pieces. */
export function scriptedModel({ steps, deltas }) {
  let call = 0
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('The bench streams.')),
    doStream: () => {
      call++
      return Promise.resolve({ stream: streamOf(call <= steps ? toolTurn(call) : answer(deltas)) })
    },
  }
}

function toolTurn(call) {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-call', toolCallId: `call-${call}`, toolName: 'echo', input: '{"n":1}' },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ]
}

function answer(deltas) {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...Array.from({ length: deltas }, () => ({ type: 'text-delta', id: '1', delta: 'word ' })),
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
  ]
}

function streamOf(parts) {
  let index = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (index < parts.length) controller.enqueue(parts[index++])
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** `count` small messages, users and assistants in turn. */
export function historyOf(count) {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: `message ${index}`,
  }))
}
