// The AI SDK has no list: an array of UI messages, which it can validate, and its converter for each prompt.
import { convertToModelMessages, validateUIMessages } from 'ai'

export const list = {
  load: stored =>
    validateUIMessages({ messages: stored.map(({ id, role, content }) => ({ id, role, parts: content.parts })) }),
  addOne: (messages, text) => messages.push({ id: 'new', role: 'user', parts: [{ type: 'text', text }] }),
  prompt: messages => convertToModelMessages(messages),
  countOf: messages => messages.length,
}
