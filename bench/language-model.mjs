// The script as a model of the AI SDK's specification, which Lockstep, the SDK and Mastra speak.
import { nextTurn, turnsOf, word } from './script.mjs'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

export function languageModel(work) {
  const turns = turnsOf(work)
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => {
      const call = turns.next()
      return Promise.resolve({
        content: [call ? toolCall(call) : { type: 'text', text: word.repeat(work.deltas) }],
        finishReason: finishOf(call),
        usage,
        warnings: [],
      })
    },
    doStream: () => {
      const call = turns.next()
      return Promise.resolve({ stream: streamOf(call ? toolTurn(call) : answer(work.deltas), work.paced) })
    },
  }
}

const finishOf = call => ({ unified: call ? 'tool-calls' : 'stop', raw: undefined })

const toolCall = call => ({ type: 'tool-call', toolCallId: `call-${call}`, toolName: 'echo', input: '{"n":1}' })

const toolTurn = call => [
  { type: 'stream-start', warnings: [] },
  toolCall(call),
  { type: 'finish', finishReason: finishOf(call), usage },
]

const answer = deltas => [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  ...Array.from({ length: deltas }, () => ({ type: 'text-delta', id: '1', delta: word })),
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: finishOf(undefined), usage },
]

function streamOf(parts, paced) {
  let index = 0
  const give = controller => {
    if (index < parts.length) controller.enqueue(parts[index++])
    else controller.close()
  }
  const pull = paced ? controller => nextTurn().then(() => give(controller)) : give
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}
