import { describe, expect, it } from 'vitest'
import { MessageList, type SavedList } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, textsOf } from './reading.ts'

const list = () =>
  newList({ threadId: 't', resourceId: 'r' })
    .add('old', 'memory')
    .add(['a', 'b'], 'input')
    .add({ role: 'assistant', content: 'c' }, 'response')
    .add('late', 'context')
    .apply([{ type: 'order', ids: ['new-5', 'new-1'] }])
    .addSystem(['Be kind.', { role: 'system', content: 'Be brief.', providerOptions: { p: { k: 1 } } }])

describe('a saved list', () => {
  it('is read as the same list, without its changes', () => {
    const given = list()
    const read = MessageList.fromJSON(JSON.stringify(given), { generateId: () => 'id', now: () => new Date(0) })
    expect(read.toJSON()).toEqual(given.toJSON())
    expect([read.changes, read.threadId, read.resourceId, read.generateId(), read.now().getTime()]).toEqual([
      [],
      't',
      'r',
      'id',
      0,
    ])
    expect(read.getMessages().map(({ id }) => read.sourceOf(id))).toEqual([
      'context',
      'input',
      'input',
      'response',
      'memory',
    ])
    expect(MessageList.fromJSON(JSON.parse(JSON.stringify(given))).toJSON()).toEqual(given.toJSON())
    expect(JSON.stringify(MessageList.fromJSON(JSON.stringify(given)))).toBe(JSON.stringify(given))
  })

  it('keeps the identity of messages when it never was text', () => {
    const given = list()
    const read = MessageList.fromJSON(given.toJSON())
    for (const message of given.getMessages()) expect(read.find(message.id)).toBe(message)
    expect(read.getAllSystemMessages()[0]).toBe(given.getAllSystemMessages()[0])
    expect(MessageList.fromJSON(new MessageList().toJSON()).getMessages()).toEqual([])
  })

  it('can be written to like any other', () => {
    const read = MessageList.fromJSON(JSON.stringify(list()))
      .add('more', 'memory')
      .update('new-2', draft => void draft.content.parts.pop())
    expect(textsOf(read)).toEqual(['late', 'more', '', 'b', 'c', 'old'])
  })

  it('of a newer version says what to do', () => {
    expect(errorOf(() => MessageList.fromJSON({ ...list().toJSON(), version: 2 }))).toMatchObject({
      code: 'unsupported-version',
      message: 'The saved list has version 2, and this package reads version 1. Update @lockstep/message-list.',
    })
  })

  it('that is broken says where', () => {
    const saved = JSON.parse(JSON.stringify(list())) as SavedList
    const broken = (change: (copy: { messages: { source: string; message: Record<string, unknown> }[] }) => void) => {
      const copy = structuredClone(saved) as never
      change(copy)
      const { code, path } = errorOf(() => MessageList.fromJSON(copy))
      return { code, path }
    }
    expect(errorOf(() => MessageList.fromJSON('{"type":"mess')).message).toBe(
      'The saved list is not JSON (13 characters, beginning "{\\"type\\":\\"mess"). Pass what JSON.stringify(list) wrote, complete.',
    )
    for (const other of [null, 7, '[]', {}, { type: 'message-list' }, { type: 'something', version: 1 }])
      expect(errorOf(() => MessageList.fromJSON(other)).code).toBe('invalid-json')
    expect(broken(copy => delete (copy as { messages?: unknown }).messages)).toEqual({
      code: 'invalid-json',
      path: 'list.messages',
    })
    expect(broken(copy => (copy.messages[1]!.source = 'elsewhere'))).toEqual({
      code: 'invalid-json',
      path: 'list.messages[1].source',
    })
    expect(broken(copy => (copy.messages[1]!.message = 7 as never))).toEqual({
      code: 'invalid-json',
      path: 'list.messages[1].message',
    })
    expect(broken(copy => delete copy.messages[1]!.message['id'])).toEqual({
      code: 'invalid-json',
      path: 'list.messages[1].message.id',
    })
    expect(broken(copy => (copy.messages[2]!.message['id'] = 'new-2'))).toEqual({
      code: 'invalid-json',
      path: 'list.messages[2]',
    })
    expect(broken(copy => (copy.messages[1]!.message['content'] = { format: 2, parts: [{ type: 'text' }] }))).toEqual({
      code: 'invalid-json',
      path: 'list.messages[1].message.content.parts[0].text',
    })
    expect(
      broken(copy => ((copy as unknown as { systemMessages: unknown[] }).systemMessages[0] = { role: 'system' })),
    ).toEqual({ code: 'invalid-json', path: 'list.systemMessages[0].content' })
    expect(broken(copy => ((copy as unknown as { systemMessages: unknown[] }).systemMessages[0] = 7))).toEqual({
      code: 'invalid-json',
      path: 'list.systemMessages[0]',
    })
  })
})
