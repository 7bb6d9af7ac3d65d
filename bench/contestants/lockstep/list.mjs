// Lockstep's message list, from the built files.
import { MessageList } from '@lockstep/message-list'

const ids = { threadId: 't', resourceId: 'r' }

export const list = {
  load: stored => new MessageList(ids).add(stored, 'memory'),
  add: stored => {
    const messages = new MessageList(ids)
    for (const message of stored) messages.add(message, 'memory')
    return messages
  },
  addOne: (messages, text) => messages.add(text, 'input'),
  prompt: messages => messages.get.all.prompt(),
  countOf: messages => messages.getMessages().length,
}
