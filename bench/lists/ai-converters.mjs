// The AI SDK has no list: an array of UI messages, and its converters for each prompt.
import { convertToModelMessages, validateUIMessages } from 'ai'

const uiOf = ({ id, role, content }) => ({ id, role, parts: content.parts })

export const addAll = stored => validateUIMessages({ messages: stored.map(uiOf) })
export const prompt = list => convertToModelMessages(list)
export const addOne = (list, message) =>
  list.push({ id: 'new', role: 'user', parts: [{ type: 'text', text: message }] })
