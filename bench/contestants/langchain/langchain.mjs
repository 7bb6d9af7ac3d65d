// `langchain`: `createAgent` on a chat model of its own interface, read as messages.
import { AIMessageChunk, mapStoredMessagesToChatMessages } from '@langchain/core/messages'
import { createAgent, createMiddleware, tool } from 'langchain'
import { z } from 'zod'
import { historyOf } from '../../script.mjs'
import { ScriptedChatModel } from './scripted-chat-model.mjs'

export const entry = 'langchain'

export const lacks = {
  processors: 'middleware does not see chunks',
  add: 'has no list to add to: an array',
  prompt: 'has no prompt of its own: each provider makes one',
}

export const notes = { readers: 'middleware with beforeModel' }

export const prepare = work => [...historyOf(work.history), { role: 'user', content: 'Go' }]

export async function run(work, messages, seen) {
  const agent = createAgent({
    model: new ScriptedChatModel(work),
    tools: [tool(() => seen.tool(), { name: 'echo', description: 'echo', schema: z.object({ n: z.number() }) })],
    middleware: Array.from({ length: work.readers }, (_, index) =>
      createMiddleware({ name: `read-${index}`, beforeModel: state => void seen.read(state.messages) }),
    ),
  })
  const recursionLimit = (work.steps + 1) * (2 + work.readers) + 1
  let state
  const stream = await agent.stream({ messages }, { streamMode: ['messages', 'values'], recursionLimit })
  for await (const [mode, part] of stream)
    if (mode === 'values') state = part
    else if (part[0] instanceof AIMessageChunk && part[0].content) seen.text(part[0].content)
  return { agent, state }
}

export const list = {
  load: stored =>
    mapStoredMessagesToChatMessages(
      stored.map(({ id, role, content }) => ({
        type: role === 'user' ? 'human' : 'ai',
        data: { id, content: content.parts[0].text },
      })),
    ),
  countOf: messages => messages.length,
}
