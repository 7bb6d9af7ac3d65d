// Lockstep's message list, from the built files.
import { MessageList } from '../../packages/message-list/dist/index.js'

const ids = { threadId: 't', resourceId: 'r' }

export const addAll = stored => new MessageList(ids).add(stored, 'memory')
export const addEach = stored => {
  const list = new MessageList(ids)
  for (const message of stored) list.add(message, 'memory')
  return list
}
export const prompt = list => list.get.all.prompt()
export const addOne = (list, message) => list.add(message, 'input')
