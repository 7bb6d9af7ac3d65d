// `@mariozechner/pi-agent-core`: an agent with a stream function of its own.
import { Agent } from '@mariozechner/pi-agent-core'
import { Type, createAssistantMessageEventStream } from '@mariozechner/pi-ai'
import { historyOf, nextTurn, turnsOf, word } from '../../script.mjs'

export const entry = '@mariozechner/pi-agent-core'

export const lacks = { list: 'an array, taken as it is' }

export const notes = {
  processors: 'listeners, which cannot change or drop a chunk',
  readers: 'five readers in one transformContext',
}

const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const model = {
  id: 'scripted',
  name: 'scripted',
  api: 'bench',
  provider: 'bench',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: noCost,
  contextWindow: 1e9,
  maxTokens: 1e9,
}

const assistantMessage = (content, stopReason) => ({
  role: 'assistant',
  content,
  api: 'bench',
  provider: 'bench',
  model: 'scripted',
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { ...noCost, total: 0 } },
  stopReason,
  timestamp: 0,
})

export const prepare = work =>
  historyOf(work.history).map(({ role, content }) =>
    role === 'user' ? { role, content, timestamp: 0 } : assistantMessage([{ type: 'text', text: content }], 'stop'),
  )

function scriptedStream(work) {
  const turns = turnsOf(work)
  return () => {
    const stream = createAssistantMessageEventStream()
    void speak(stream, work, turns.next())
    return stream
  }
}

async function speak(stream, work, call) {
  const content = call
    ? { type: 'toolCall', id: `call-${call}`, name: 'echo', arguments: { n: 1 } }
    : { type: 'text', text: '' }
  const partial = assistantMessage([content], call ? 'toolUse' : 'stop')
  stream.push({ type: 'start', partial })
  if (call) stream.push({ type: 'toolcall_end', contentIndex: 0, toolCall: content, partial })
  else
    for (let index = 0; index < work.deltas; index++) {
      if (work.paced) await nextTurn()
      await emptied(stream)
      content.text += word
      stream.push({ type: 'text_delta', contentIndex: 0, delta: word, partial })
    }
  stream.push({ type: 'done', reason: partial.stopReason, message: partial })
  stream.end()
}

/** The stream has a queue and no way to be asked for more: the model waits as it would for a network. */
async function emptied(stream) {
  while (stream.queue.length > 0) await Promise.resolve()
}

export async function run(work, messages, seen) {
  const agent = new Agent({
    initialState: {
      model,
      messages,
      tools: [
        {
          name: 'echo',
          label: 'echo',
          description: 'echo',
          parameters: Type.Object({ n: Type.Number() }),
          execute: async () => ({ content: [{ type: 'text', text: seen.tool() }], details: undefined }),
        },
      ],
    },
    streamFn: scriptedStream(work),
    ...(work.readers > 0 && { transformContext: async all => readAll(work, all, seen) }),
  })
  for (let index = 0; index < work.processors; index++)
    agent.subscribe(work.async ? async event => event : event => event)
  agent.subscribe(event => {
    if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta')
      seen.text(event.assistantMessageEvent.delta)
  })
  await agent.prompt('Go')
  return agent
}

function readAll({ readers }, messages, seen) {
  for (let reader = 0; reader < readers; reader++) seen.read(messages)
  return messages
}
