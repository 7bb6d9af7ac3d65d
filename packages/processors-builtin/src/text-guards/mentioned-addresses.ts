// What users wrote that may be an address: said again, it tells nobody anything that its author did not know.
import type { AgentMessage, MessageList, MessagePart } from '@lockstep/message-list'

const words = new WeakMap<AgentMessage, readonly string[]>()

/** Whether an address stands in what a user wrote. What was put into the conversation as context is nobody's word. */
export function isMentioned(address: string, list: MessageList): boolean {
  const written = address.replace(/^https:\/\/(?=www\.)/, '')
  return [list.get.input, list.get.remembered].some(view =>
    view.having(hasAddress).some(message => wordsOf(message).some(word => word.includes(written))),
  )
}

/** A text is looked through once, however many addresses are asked for. */
function wordsOf(message: AgentMessage): readonly string[] {
  let known = words.get(message)
  if (!known) words.set(message, (known = message.role === 'user' ? message.content.parts.flatMap(wordsIn) : []))
  return known
}

function wordsIn(part: MessagePart): readonly string[] {
  return part.type === 'text' ? part.text.split(/\s+/).filter(mayBeAddress) : []
}

function hasAddress(part: MessagePart): boolean {
  return part.type === 'text' && mayBeAddress(part.text)
}

function mayBeAddress(text: string): boolean {
  return /[/\\:]|www\./i.test(text)
}
