// The message list of `@mastra/core`.
import { MessageList } from '@mastra/core/agent/message-list'

const ids = { threadId: 't', resourceId: 'r' }
const dated = message => ({ ...message, createdAt: new Date(message.createdAt) })

export const addAll = stored => new MessageList(ids).add(stored.map(dated), 'memory')
export const addEach = stored => {
  const list = new MessageList(ids)
  for (const message of stored) list.add(dated(message), 'memory')
  return list
}
export const prompt = list => list.get.all.aiV5.llmPrompt()
export const addOne = (list, message) => list.add(message, 'input')
