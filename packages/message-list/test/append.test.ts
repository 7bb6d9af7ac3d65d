// Parts at the end of a message: the same as an edit, at the cost of what is new.
import { MessageList, type MessagePart } from '@lockstep/message-list'
import { describe, expect, it } from 'vitest'
import { newList } from './arbitraries.ts'

const text = (words: string): MessagePart => ({ type: 'text', text: words })
const call = { type: 'tool-look', toolCallId: 'c', state: 'input-available', input: { at: 'sky' } } as MessagePart
const answer = () =>
  newList().add([{ id: 'r', role: 'assistant', parts: [{ type: 'text', text: 'one' }] } as never], 'response')

describe('append', () => {
  it('does what a recipe that pushes does, and tells it the same way', () => {
    const [appended, edited] = [answer(), answer()]
    appended.append('r', [{ type: 'step-start' }, text('two'), call])
    edited.update(
      'r',
      ({ content }) => void content.parts.push({ type: 'step-start' }, text('two') as never, call as never),
    )
    expect(appended.get.all.db()).toEqual(edited.get.all.db())
    expect(appended.changes.at(-1)!.edits).toEqual(edited.changes.at(-1)!.edits)
    expect(appended.changes.at(-1)!.inverse).toEqual(edited.changes.at(-1)!.inverse)
    expect(appended.get.all.prompt()).toEqual(edited.get.all.prompt())
  })

  it('keeps the identity of the parts that were there, and copies and freezes what is new', () => {
    const list = answer()
    const [first] = list.find('r')!.content.parts
    const given = { type: 'text' as const, text: 'two' }
    list.append('r', [given])
    const { parts } = list.find('r')!.content
    expect(parts[0]).toBe(first)
    expect(parts[1]).not.toBe(given)
    expect(Object.isFrozen(parts) && Object.isFrozen(parts[1])).toBe(true)
    given.text = 'changed'
    expect(parts[1]).toMatchObject({ text: 'two' })
  })

  it('of nothing is no change', () => {
    const list = answer()
    const before = list.snapshot()
    list.append('r', [])
    expect(list.snapshot()).toBe(before)
  })

  it('can be taken back', () => {
    const list = answer()
    const before = list.get.all.db()
    list.append('r', [text('two')])
    list.undo(list.changes.at(-1)!)
    expect(list.get.all.db()).toEqual(before)
  })

  it('refuses parts that are none, by their place, and leaves the list as it was', () => {
    const list = answer()
    const before = list.snapshot()
    expect(() => list.append('r', [text('two'), { type: 'text', text: 5 } as never])).toThrow(
      'message "r".content.parts[2].text is not valid',
    )
    expect(() => list.append('nobody', [text('x')])).toThrow('The list has no message "nobody"')
    expect(list.snapshot()).toBe(before)
  })
})

describe('an edit of the parts alone', () => {
  it('keeps everything around them', () => {
    const list = new MessageList({ threadId: 't', resourceId: 'r' }).add(
      { id: 'm', role: 'user', metadata: { mood: 'good' }, parts: [{ type: 'text', text: 'one' }] } as never,
      'input',
    )
    const { content, ...around } = list.find('m')!
    list.update('m', draft => void draft.content.parts.push({ type: 'text', text: 'two' }))
    const { content: after, ...still } = list.find('m')!
    expect(still).toEqual(around)
    expect(after.metadata).toBe(content.metadata)
  })
})
