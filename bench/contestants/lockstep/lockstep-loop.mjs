// Lockstep without the agent around it: `runLoop` on a message list that was loaded before.
import { tool } from 'ai'
import { z } from 'zod'
import { runLoop } from '@lockstep/agent-loop'
import { MessageList } from '@lockstep/message-list'
import { languageModel } from '../../language-model.mjs'
import { historyOf } from '../../script.mjs'
import { passing, reading } from './processors.mjs'

export const lacks = {
  list: "it is Lockstep's",
  installation: "it is Lockstep's",
}

export function prepare(work) {
  const messageList = new MessageList()
  if (work.history > 0) messageList.add(historyOf(work.history), 'memory')
  return messageList.add('Go', 'input')
}

export async function run(work, messageList, seen) {
  const loop = runLoop({
    model: languageModel(work),
    messageList,
    tools: { echo: tool({ inputSchema: z.object({ n: z.number() }), execute: () => seen.tool() }) },
    maxSteps: work.steps + 1,
    inputProcessors: reading(work, seen),
    outputProcessors: passing(work),
  })
  let next = await loop.next()
  for (; !next.done; next = await loop.next()) if (next.value.type === 'text-delta') seen.text(next.value.payload.text)
  return { messageList, result: next.value }
}
