// `@mastra/core`: an agent that streams, with its own processors and its own message list.
import { Agent } from '@mastra/core/agent'
import { MessageList } from '@mastra/core/agent/message-list'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { languageModel } from '../../language-model.mjs'
import { historyOf } from '../../script.mjs'

export const entry = '@mastra/core/agent'

export const prepare = work => [...historyOf(work.history), { role: 'user', content: 'Go' }]

export async function run(work, messages, seen) {
  const agent = new Agent({
    id: 'bench',
    name: 'bench',
    instructions: 'Go',
    model: languageModel(work),
    tools: {
      echo: createTool({
        id: 'echo',
        description: 'echo',
        inputSchema: z.object({ n: z.number() }),
        execute: async () => seen.tool(),
      }),
    },
    inputProcessors: Array.from({ length: work.readers }, (_, index) => ({
      id: `read-${index}`,
      processInputStep: ({ messages: all }) => seen.read(all),
    })),
    outputProcessors: Array.from({ length: work.processors }, (_, index) => ({
      id: `pass-${index}`,
      processOutputStream: work.async ? async ({ part }) => part : ({ part }) => part,
    })),
  })
  const output = await agent.stream(messages, { maxSteps: work.steps + 1 })
  for await (const chunk of output.fullStream) if (chunk.type === 'text-delta') seen.text(chunk.payload.text)
  return { agent, output, steps: await output.steps }
}

const ids = { threadId: 't', resourceId: 'r' }
const dated = message => ({ ...message, createdAt: new Date(message.createdAt) })

export const list = {
  load: stored => new MessageList(ids).add(stored.map(dated), 'memory'),
  add: stored => {
    const messages = new MessageList(ids)
    for (const message of stored) messages.add(dated(message), 'memory')
    return messages
  },
  addOne: (messages, text) => messages.add(text, 'input'),
  prompt: messages => messages.get.all.aiV5.llmPrompt(),
  countOf: messages => messages.get.all.db().length,
}
