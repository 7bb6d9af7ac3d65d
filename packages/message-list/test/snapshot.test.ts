import { describe, expect, it } from 'vitest'
import { diff, MessageList, type Edit, type Snapshot } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, textOf, textsOf } from './reading.ts'

const rename = (list: MessageList, id: string, text: string) =>
  list.update(id, draft => void (draft.content.parts[0] = { type: 'text', text }))
const abc = () => newList().add(['a', 'b', 'c'], 'input')

describe('handles', () => {
  it('write to one cell, each in the name of its author', () => {
    const list = abc()
    const processor = list.as({ id: 'redactor', hook: 'processInput', step: 0 })
    rename(processor, 'new-1', 'A')
    expect(textsOf(list)).toEqual(['A', 'b', 'c'])
    expect(list.changes.map(({ author }) => author)).toEqual([
      { id: 'caller' },
      { id: 'redactor', hook: 'processInput', step: 0 },
    ])
    expect([list.isSameAs(processor), list.isSameAs(list.fork()), processor.author.id, list.author.id]).toEqual([
      true,
      false,
      'redactor',
      'caller',
    ])
    expect(processor.get).toBe(list.get)
  })

  it('find messages by their place, counted from either end', () => {
    const list = abc()
    const ids = list.getMessages().map(({ id }) => id)
    const found = [0, 2, 3, -1, -3, -4].map(position => list.at(position)?.id)
    expect(found).toEqual([ids[0], ids[2], undefined, ids[2], ids[0], undefined])
    expect(newList().at(-1)).toBeUndefined()
  })

  it('make ids and times as the list does', () => {
    const list = newList({ threadId: 't', resourceId: 'r' })
    expect([list.generateId(), list.now().toISOString(), list.threadId, list.resourceId]).toEqual([
      'new-1',
      '2026-01-01T00:00:00.000Z',
      't',
      'r',
    ])
  })
})

describe('a fork', () => {
  it('begins with the same state and goes its own way', () => {
    const list = abc()
    const fork = list.as({ id: 'branch' }).fork()
    rename(fork, 'new-2', 'B').add('d', 'input')
    rename(list, 'new-3', 'C')
    expect([textsOf(list), textsOf(fork)]).toEqual([
      ['a', 'b', 'C'],
      ['a', 'B', 'c', 'd'],
    ])
    expect(fork.getMessages()[0]).toBe(list.getMessages()[0])
    expect(fork.author.id).toBe('branch')
    expect([list.find('new-4'), fork.find('new-4')?.id, list.sourceOf('new-4'), fork.sourceOf('new-4')]).toEqual([
      undefined,
      'new-4',
      undefined,
      'input',
    ])
  })
})

describe('a snapshot', () => {
  it('is gone back to with its changes, and can begin another list', () => {
    const list = abc()
    const snapshot = list.snapshot()
    rename(list, 'new-1', 'A').add('d', 'response').addSystem('Be kind.').restore(snapshot)
    expect([textsOf(list), list.changes.length, list.getAllSystemMessages(), list.snapshot() === snapshot]).toEqual([
      ['a', 'b', 'c'],
      1,
      [],
      true,
    ])
    expect(
      list.add({ id: 'new-4', role: 'user', parts: [{ type: 'text', text: 'again' }] }, 'input').find('new-4'),
    ).toBeDefined()
    const other = new MessageList({ snapshot })
    expect([textsOf(other), snapshot.messages === other.getMessages(), snapshot.systemMessages]).toEqual([
      ['a', 'b', 'c'],
      true,
      [],
    ])
  })

  it('of another kind is refused', () => {
    const saved = JSON.parse(JSON.stringify(abc())) as Snapshot
    expect(errorOf(() => newList().restore(saved)).code).toBe('unknown-snapshot')
    expect(errorOf(() => new MessageList({ snapshot: saved })).message).toContain('MessageList.fromJSON()')
  })

  it('differs from another one by what was added, removed, replaced or moved', () => {
    const list = abc()
    const before = list.snapshot()
    expect(diff(before, before)).toEqual({
      added: [],
      removed: [],
      replaced: [],
      reordered: false,
      systemMessages: false,
    })
    const [a, b] = list.getMessages()
    rename(list, 'new-1', 'A').removeByIds(['new-2']).add('d', 'input').addSystem('Be kind.')
    expect(diff(before, list.snapshot())).toEqual({
      added: [list.find('new-4')],
      removed: [b],
      replaced: [{ before: a, after: list.find('new-1') }],
      reordered: false,
      systemMessages: true,
    })
    expect(
      diff(
        before,
        list
          .restore(before)
          .apply([{ type: 'order', ids: ['new-3', 'new-1'] }])
          .snapshot(),
      ),
    ).toMatchObject({ added: [], removed: [], replaced: [], reordered: true })
  })
})

describe('a change', () => {
  it('says who did what, and how to take it back', () => {
    const list = abc()
    rename(list.as({ id: 'x' }), 'new-1', 'A')
    const path = ['content', 'parts', 0, 'text']
    expect(list.changes[1]).toEqual({
      sequence: 2,
      author: { id: 'x' },
      edits: [{ type: 'patch', id: 'new-1', patches: [{ op: 'replace', path, value: 'A' }] }],
      inverse: [{ type: 'patch', id: 'new-1', patches: [{ op: 'replace', path, value: 'a' }] }],
    })
    expect(list.changes[0]!.inverse.map(edit => edit.type)).toEqual(['remove', 'remove', 'remove'])
    expect(list.changes).toBe(list.changes)
  })

  it('explains a message, from the one that put it there', () => {
    const list = abc()
    rename(list.as({ id: 'x' }), 'new-1', 'A')
    rename(list.as({ id: 'y' }), 'new-2', 'B')
    list.as({ id: 'z' }).apply([{ type: 'order', ids: ['new-2', 'new-1'] }])
    rename(list.as({ id: 'w' }), 'new-1', 'AA')
    expect(list.explain('new-1').map(({ author }) => author.id)).toEqual(['caller', 'x', 'w'])
    const message = list.find('new-1')!
    list.removeByIds(['new-1']).as({ id: 'again' }).add(message, 'input')
    expect(list.explain('new-1').map(({ author }) => author.id)).toEqual(['again'])
    expect(list.explain('nobody')).toEqual([])
    expect(
      new MessageList({ snapshot: MessageList.fromJSON(JSON.stringify(list)).snapshot() }).explain('new-1'),
    ).toEqual([])
  })

  it('is taken back as a change of its own, which can be taken back too', () => {
    const list = abc()
    const before = list.getMessages()
    list.as({ id: 'x' }).draft(messages => {
      messages.reverse()
      messages[0]!.content.parts = [{ type: 'text', text: 'C' }]
      messages.splice(1, 1)
    })
    expect(textsOf(list)).toEqual(['C', 'a'])
    const [, drafted] = list.changes
    list.as({ id: 'undoer' }).undo(drafted!)
    expect([list.getMessages(), list.changes.at(-1)]).toMatchObject([before, { undoes: 2, author: { id: 'undoer' } }])
    list.undo(list.changes.at(-1)!)
    expect(textsOf(list)).toEqual(['C', 'a'])
  })

  it('stays when a later one is about the same messages, or when it was taken back already', () => {
    const list = rename(rename(abc(), 'new-1', 'A'), 'new-1', 'AA')
    const [, first, second] = list.changes
    expect(errorOf(() => list.undo(first!)).message).toBe(
      'Change 2 cannot be taken back, because change 3 by "caller" is about the same messages. Take that one back first.',
    )
    list.undo(second!)
    expect(errorOf(() => list.undo(second!)).message).toContain('change 4 by "caller" took it back already')
    expect(textsOf(list.undo(first!))).toEqual(['a', 'b', 'c'])
    const other = rename(rename(abc(), 'new-1', 'A'), 'new-2', 'B')
    expect(textsOf(other.undo(other.changes[1]!))).toEqual(['a', 'B', 'c'])
    const spoken = newList().addSystem('one').addSystem('two')
    expect(errorOf(() => spoken.undo(spoken.changes[0]!)).code).toBe('undo-conflict')
    expect(spoken.undo(spoken.changes[1]!).undo(spoken.changes[0]!).getAllSystemMessages()).toEqual([])
  })

  it('does not mind where its message stands, nor a move what its messages say', () => {
    const list = rename(abc(), 'new-1', 'A').apply([{ type: 'order', ids: ['new-2', 'new-1'] }])
    const [, renamed, moved] = list.changes
    expect(textsOf(list.undo(renamed!))).toEqual(['b', 'a', 'c'])
    expect(textsOf(rename(list, 'new-2', 'B').undo(moved!))).toEqual(['a', 'B', 'c'])
    const gone = abc()
      .apply([{ type: 'order', ids: ['new-2', 'new-1'] }])
      .removeByIds(['new-1'])
    expect(errorOf(() => gone.undo(gone.changes[1]!)).code).toBe('undo-conflict')
  })

  it('comes back when what took it back is taken back', () => {
    const list = rename(rename(abc(), 'new-1', 'A'), 'new-1', 'AA')
    const [, first, second] = list.changes
    list.undo(second!).undo(list.changes.at(-1)!)
    expect(textsOf(list)[0]).toBe('AA')
    expect(errorOf(() => list.undo(first!)).code).toBe('undo-conflict')
  })

  it('is of one list', () => {
    const list = abc()
    expect(errorOf(() => abc().undo(list.changes[0]!)).code).toBe('unknown-change')
    const [change] = list.changes
    expect(errorOf(() => list.restore(new MessageList().snapshot()).undo(change!)).code).toBe('unknown-change')
  })
})

describe('apply', () => {
  it('puts messages next to others, reading those that come from outside', () => {
    const list = abc()
    const insert = (text: string, place: object): Edit => ({
      type: 'insert',
      source: 'context',
      message: { role: 'user', content: { format: 2, parts: [{ type: 'text', text }] } } as never,
      ...place,
    })
    list.apply([
      insert('before b', { before: 'new-2' }),
      insert('after b', { after: 'new-2' }),
      insert('first', { before: 'new-1' }),
      insert('end', {}),
      insert('then', { after: 'gone', before: 'new-3' }),
    ])
    expect(textsOf(list)).toEqual(['first', 'a', 'before b', 'b', 'after b', 'then', 'c', 'end'])
    list.apply([
      {
        type: 'replace',
        message: { id: 'new-1', role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'A' }] } } as never,
        source: 'memory',
      },
    ])
    expect([textOf(list.find('new-1')!), list.sourceOf('new-1')]).toEqual(['A', 'memory'])
    list.apply([
      { type: 'system', messages: [{ role: 'system', content: 'Be kind.' }] },
      { type: 'patch', id: 'new-1', patches: [{ op: 'add', path: ['content', 'metadata'], value: { k: 1 } }] },
    ])
    expect([list.getAllSystemMessages()[0]!.content, list.find('new-1')!.content.metadata]).toEqual([
      'Be kind.',
      { k: 1 },
    ])
  })

  it('takes neighbours and orders as far as they are there', () => {
    const list = abc()
    const [x] = newList()
      .add({ id: 'x', role: 'user', parts: [{ type: 'text', text: 'x' }] }, 'input')
      .getMessages()
    const insert = { type: 'insert', message: x!, source: 'memory' } as const
    expect(textsOf(list.fork().apply([{ ...insert, after: 'gone' }]))).toEqual(['x', 'a', 'b', 'c'])
    expect(textsOf(list.fork().apply([{ ...insert, before: 'gone', source: 'input' }]))).toEqual(['a', 'b', 'c', 'x'])
    expect(textsOf(list.fork().apply([{ type: 'order', ids: ['new-3', 'gone', 'new-1'] }]))).toEqual(['c', 'b', 'a'])
    const snapshot = list.snapshot()
    expect(list.apply([{ type: 'order', ids: ['gone'] }]).snapshot()).toBe(snapshot)
  })

  it('does all or nothing', () => {
    const list = abc()
    const snapshot = list.snapshot()
    const message = list.find('new-1')!
    const refused = (...edits: Edit[]) => {
      const { code } = errorOf(() => list.apply([{ type: 'remove', id: 'new-3' }, ...edits]))
      expect(list.snapshot()).toBe(snapshot)
      return code
    }
    expect(refused({ type: 'remove', id: 'gone' })).toBe('unknown-message')
    expect(refused({ type: 'insert', message, source: 'input' })).toBe('duplicate-id')
    const twice = { type: 'insert', message: { ...message, id: 'x' }, source: 'input' } as const
    expect(refused(twice, { ...twice, after: 'x' })).toBe('duplicate-id')
    expect(refused({ type: 'order', ids: ['new-1', 'new-1'] })).toBe('invalid-edit')
    expect(
      refused({
        type: 'patch',
        id: 'new-1',
        patches: [{ op: 'replace', path: ['content', 'nowhere', 'else'], value: 1 }],
      }),
    ).toBe('invalid-edit')
    expect(refused({ type: 'patch', id: 'new-1', patches: [{ op: 'replace', path: ['id'], value: 'other' }] })).toBe(
      'invalid-recipe',
    )
    expect(refused({ type: 'replace', message: { role: 'system', content: 'x' } as never })).toBe('invalid-edit')
  })
})
