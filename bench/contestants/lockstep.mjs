// Lockstep's loop, from the built files, with what a user would write.
import { tool } from '../node_modules/ai/dist/index.js'
import { z } from '../node_modules/zod/index.js'
import { runLoop } from '../../packages/agent-loop/dist/index.js'
import { MessageList } from '../../packages/message-list/dist/index.js'
import { historyOf, scriptedModel } from '../works.mjs'

const echo = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n })

export async function prepare(work) {
  const messageList = new MessageList()
  if (work.history > 0) messageList.add(historyOf(work.history), 'memory')
  messageList.add('Go', 'input')
  messageList.get.all.prompt()
  return messageList
}

export async function run(work, messageList) {
  const outputProcessors = Array.from({ length: work.processors ?? 0 }, (_, index) => ({
    id: `pass-${index}`,
    processOutputStream: ({ part }) => part,
  }))
  let length = 0
  const loop = runLoop({
    model: scriptedModel(work),
    messageList,
    tools: { echo },
    maxSteps: work.steps + 1,
    outputProcessors,
  })
  for await (const chunk of loop) if (chunk.type === 'text-delta') length += chunk.payload.text.length
  return length
}
