import { convertToModelMessages, validateUIMessages } from 'ai'
import { describe, expect, it } from 'vitest'
import { applyOverlay, MessageList, overlayOf, returnedEdits, type AgentMessage } from '@lockstep/message-list'

const newList = (): MessageList => {
  let id = 0
  return new MessageList({ generateId: () => `m${++id}`, now: () => new Date('2026-01-01T00:00:00Z') })
}
const textOf = (message: AgentMessage): string =>
  message.content.parts.map(part => (part.type === 'text' ? part.text : `<${part.type}>`)).join('')

describe('MessageList', () => {
  it('holds a run of a tool-calling loop and gives it out in every format', async () => {
    const list = newList().add('What is the weather?', 'input')
    list.add(
      {
        id: 'r',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'tool-weather', toolCallId: 'c1', state: 'input-available', input: { city: 'Rome' } },
        ],
      },
      'response',
    )
    list.updateTool('c1', { state: 'output-available', output: { temperature: 21 } })
    list.update('r', draft => {
      draft.content.parts.push({ type: 'step-start' }, { type: 'text', text: 'It is 21 °C.' })
    })
    expect(list.get.all.prompt().map(message => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(await validateUIMessages({ messages: list.get.all.ui() })).toHaveLength(2)
    expect(list.get.all.model()).toHaveLength((await convertToModelMessages(list.get.all.ui())).length)
    expect(MessageList.fromJSON(JSON.stringify(list)).getMessages()).toEqual(list.getMessages())
  })

  it('takes a returned array for what was meant, in the list and over it', () => {
    const list = newList().add(['a', 'b', 'c'], 'input')
    const given = list.getMessages()
    const [a, , c] = given
    const { edits } = returnedEdits(
      given,
      [c!, { ...a!, content: { format: 2, parts: [{ type: 'text', text: 'A' }] } }, 'new'],
      { list, source: 'context' },
    )
    expect(applyOverlay(given, overlayOf(edits)).map(textOf)).toEqual(['c', 'A', 'new'])
    expect(list.getMessages()).toBe(given)
    expect(list.apply(edits).getMessages().map(textOf)).toEqual(['c', 'A', 'new'])
  })
})
