// `@openai/agents`: a runner on a model of its own interface, tracing off.
import { Agent, MemorySession, Runner, Usage, assistant, tool, user } from '@openai/agents'
import { z } from 'zod'
import { historyOf, nextTurn, turnsOf, word } from '../../script.mjs'

export const entry = '@openai/agents'

export const lacks = {
  processors: 'nothing sees chunks on their way',
  prompt: 'a session gives items, not a prompt',
}

export const notes = { readers: 'five readers in one callModelInputFilter' }

const itemOf = ({ role, content }) => (role === 'user' ? user(content) : assistant(content))

export const prepare = work => [...historyOf(work.history).map(itemOf), user('Go')]

function scriptedModel(work) {
  const turns = turnsOf(work)
  return {
    getResponse: () => Promise.reject(new Error('The bench streams.')),
    async *getStreamedResponse() {
      const call = turns.next()
      yield { type: 'response_started' }
      if (!call)
        for (let index = 0; index < work.deltas; index++) {
          if (work.paced) await nextTurn()
          yield { type: 'output_text_delta', delta: word }
        }
      const item = call
        ? { type: 'function_call', callId: `call-${call}`, name: 'echo', arguments: '{"n":1}', status: 'completed' }
        : assistant(word.repeat(work.deltas))
      const usage = new Usage({ inputTokens: 1, outputTokens: 1, totalTokens: 2 })
      yield { type: 'response_done', response: { id: 'response', usage, output: [item] } }
    },
  }
}

export async function run(work, input, seen) {
  const agent = new Agent({
    name: 'bench',
    model: scriptedModel(work),
    tools: [
      tool({
        name: 'echo',
        description: 'echo',
        parameters: z.object({ n: z.number() }),
        execute: () => seen.tool(),
      }),
    ],
  })
  const runner = new Runner({
    tracingDisabled: true,
    ...(work.readers > 0 && { callModelInputFilter: ({ modelData }) => readAll(work, modelData, seen) }),
  })
  const result = await runner.run(agent, input, { stream: true, maxTurns: work.steps + 1 })
  for await (const event of result)
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') seen.text(event.data.delta)
  await result.completed
  return { agent, result }
}

function readAll({ readers }, modelData, seen) {
  for (let reader = 0; reader < readers; reader++) seen.read(modelData.input)
  return modelData
}

const storedItem = ({ role, content }) => itemOf({ role, content: content.parts[0].text })

export const list = {
  load: async stored => {
    const session = new MemorySession({ initialItems: stored.map(storedItem) })
    return { session, items: await session.getItems() }
  },
  add: async stored => {
    const session = new MemorySession()
    for (const message of stored) await session.addItems([storedItem(message)])
    return { session, items: await session.getItems() }
  },
  countOf: ({ items }) => items.length,
}
