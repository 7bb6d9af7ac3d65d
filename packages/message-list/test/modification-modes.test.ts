import { describe, expect, it } from 'vitest'
import {
  applyOverlay,
  frozenWriteError,
  MessageList,
  overlayOf,
  returnedEdits,
  type AgentMessage,
  type MessageInput,
} from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, textsOf, textOf } from './reading.ts'

// The ways in which a processor can try to modify messages, what each means here, and for how long it lasts.

const conversation = () => newList().add(['a', 'b'], 'input')
const changed = (message: AgentMessage, text: string) => ({
  ...message,
  content: { ...message.content, parts: [{ type: 'text' as const, text }] },
})

/** A return for one step: it shapes that step's prompt and leaves the list alone. */
const forOneStep = (list: MessageList, returned: readonly MessageInput[]) => {
  const overlay = overlayOf(returnedEdits(list.getMessages(), returned, { list, source: 'context' }).edits)
  return { thisStep: applyOverlay(list.getMessages(), overlay).map(textOf), nextStep: textsOf(list) }
}

/** A return for the run: it is an edit of the list. */
const forTheRun = (list: MessageList, returned: readonly MessageInput[]) => {
  list.apply(returnedEdits(list.getMessages(), returned, { list, source: 'context' }).edits)
  return { thisStep: textsOf(list), nextStep: textsOf(list) }
}

describe('changing a field of a given message', () => {
  const writes: readonly (readonly [string, (message: AgentMessage) => void])[] = [
    ['text', message => ((message.content.parts[0] as { text: string }).text += 'x')],
    ['2', message => (message.content.parts as unknown[]).push(1, 2)],
    ['metadata', message => ((message.content as { metadata?: object }).metadata = {})],
    ['createdAt', message => delete (message as { createdAt?: string }).createdAt],
    ['0', message => (message.content.parts as unknown[]).pop()],
  ]

  it('throws, every time and in production too, and pollutes nothing', () => {
    const list = conversation()
    const before = JSON.stringify(list)
    for (const [, write] of writes) expect(() => write(list.getMessages()[0]!)).toThrow(TypeError)
    expect(() => (list.getMessages() as AgentMessage[]).push(list.getMessages()[0]!)).toThrow(TypeError)
    expect(() => (list.get.all.model() as unknown[]).pop()).toThrow(TypeError)
    expect(JSON.stringify(list)).toBe(before)
  })

  it('is explained: who wrote, to what, and what to do instead', () => {
    const [message] = conversation().getMessages()
    for (const [property, write] of writes) {
      try {
        write(message!)
      } catch (error) {
        const explained = frozenWriteError(error, 'Processor "shout" in processInputStep')!
        expect(explained).toMatchObject({ code: 'frozen', cause: error })
        if (property !== '2')
          expect(explained.message).toContain(
            `Processor "shout" in processInputStep wrote to "${property}" of a stored message in place.`,
          )
        expect(explained.message).toContain('messageList.update(id, draft => { … })')
      }
    }
  })

  it('is told from other errors, in every engine', () => {
    for (const other of [
      new Error('Cannot assign to read only property'),
      new TypeError('x is not a function'),
      'text',
      undefined,
    ])
      expect(frozenWriteError(other)).toBeUndefined()
    const said = [
      'Attempted to assign to readonly property.',
      '"text" is read-only',
      'can\'t define property "text": Object is not extensible',
      'can\'t delete non-configurable property "text"',
      'Unable to delete property.',
      'Attempting to define property on object that is not extensible.',
    ]
    for (const text of said)
      expect(frozenWriteError(new TypeError(text))?.message ?? text).toMatch(
        /^Something wrote to ("text"|a property) of a stored message/,
      )
  })

  it('is done with update, which lasts for the run', () => {
    const list = conversation()
    const [, untouched] = list.getMessages()
    list.update('new-1', draft => void (draft.content.parts[0] = { type: 'text', text: 'A' }))
    expect(textsOf(list)).toEqual(['A', 'b'])
    expect(list.getMessages()[1]).toBe(untouched)
  })

  it('is done for several at once with draft', () => {
    const list = conversation().draft(messages => {
      for (const message of messages)
        if (message.content.parts[0]!.type === 'text') message.content.parts[0]!.text += '!'
      messages.push({
        id: 'x',
        role: 'user',
        createdAt: '2026-01-01T00:00:00Z',
        content: { format: 2, parts: [{ type: 'text', text: 'pushed' }] },
      })
    }, 'context')
    expect([textsOf(list), list.sourceOf('x')]).toEqual([['a!', 'b!', 'pushed'], 'context'])
    expect(list.changes).toHaveLength(2)
  })
})

describe('returning a new array', () => {
  it('with another object in the place of one changes it: for the step, or for the run', () => {
    const [a, b] = conversation().getMessages()
    const returned = [changed(a!, 'A'), b!]
    expect(forOneStep(conversation(), returned)).toEqual({ thisStep: ['A', 'b'], nextStep: ['a', 'b'] })
    expect(forTheRun(conversation(), returned)).toEqual({ thisStep: ['A', 'b'], nextStep: ['A', 'b'] })
  })

  it('with only messages of its own replaces the conversation', () => {
    const returned: MessageInput[] = [{ role: 'user', content: 'x' }, { role: 'assistant', content: 'y' }, 'z']
    expect(forOneStep(conversation(), returned)).toEqual({ thisStep: ['x', 'y', 'z'], nextStep: ['a', 'b'] })
    expect(forTheRun(conversation(), returned)).toEqual({ thisStep: ['x', 'y', 'z'], nextStep: ['x', 'y', 'z'] })
  })

  it('with the same messages in another order moves them', () => {
    const reversed = (list: MessageList) => list.getMessages().toReversed()
    const [list, other] = [conversation(), conversation()]
    expect(forOneStep(list, reversed(list))).toEqual({ thisStep: ['b', 'a'], nextStep: ['a', 'b'] })
    expect(forTheRun(other, reversed(other))).toEqual({ thisStep: ['b', 'a'], nextStep: ['b', 'a'] })
  })

  it('that is the given one, or equal to it, changes nothing', () => {
    const list = conversation()
    const given = list.getMessages()
    for (const returned of [given, [...given], given.map(message => structuredClone(message))]) {
      expect(returnedEdits(given, returned, { list, source: 'context' })).toEqual({ edits: [], systemMessages: [] })
    }
  })
})

describe('pushing a new message', () => {
  it('into a new array lasts as long as the return does', () => {
    const [list, other] = [conversation(), conversation()]
    expect(forOneStep(list, [...list.getMessages(), 'note'])).toEqual({
      thisStep: ['a', 'b', 'note'],
      nextStep: ['a', 'b'],
    })
    expect(forTheRun(other, [...other.getMessages(), 'note'])).toEqual({
      thisStep: ['a', 'b', 'note'],
      nextStep: ['a', 'b', 'note'],
    })
    expect(other.sourceOf(other.getMessages()[2]!.id)).toBe('context')
  })

  it('into the given array throws', () => {
    expect(() => (conversation().getMessages() as unknown[]).push('note')).toThrow('object is not extensible')
  })
})

describe('filtering messages out', () => {
  it('hides them for the step, and deletes them for the run', () => {
    const [list, other] = [conversation(), conversation()]
    expect(forOneStep(list, list.getMessages().slice(1))).toEqual({ thisStep: ['b'], nextStep: ['a', 'b'] })
    expect(forTheRun(other, other.getMessages().slice(1))).toEqual({ thisStep: ['b'], nextStep: ['b'] })
  })
})

describe('writing to the list', () => {
  it('replaces, removes, clears and instructs, each in one change', () => {
    const list = conversation().add('then', 'memory')
    list.replace({ id: 'new-1', role: 'user', content: 'A' } as MessageInput & { readonly id: string })
    expect(textsOf(list)).toEqual(['then', 'A', 'b'])
    expect(textsOf(list.removeByIds(['new-2', 'gone']))).toEqual(['then', 'A'])
    expect(textsOf(list.clear('memory'))).toEqual(['A'])
    list.addSystem(['one', 'two']).replaceAllSystemMessages('three')
    expect(list.getAllSystemMessages()).toEqual([{ role: 'system', content: 'three' }])
    expect(list.clear().getMessages()).toEqual([])
    expect(list.getAllSystemMessages()).toHaveLength(1)
    expect(list.changes).toHaveLength(8)
    const snapshot = list.snapshot()
    expect(
      list
        .clear()
        .removeByIds(['gone'])
        .replaceAllSystemMessages(['three'] as never)
        .snapshot(),
    ).toBe(snapshot)
  })

  it('refuses what it cannot mean', () => {
    const list = conversation()
    const snapshot = list.snapshot()
    const refused = (write: () => unknown) => {
      const { code } = errorOf(write)
      expect(list.snapshot()).toBe(snapshot)
      return code
    }
    expect(refused(() => list.update('gone', () => {}))).toBe('unknown-message')
    expect(refused(() => list.replace({ id: 'gone', role: 'user', content: 'x' } as never))).toBe('unknown-message')
    expect(refused(() => list.update('new-1', (async () => {}) as never))).toBe('invalid-recipe')
    expect(refused(() => list.update('new-1', draft => void (draft.id = 'other')))).toBe('invalid-recipe')
    expect(refused(() => list.update('new-1', draft => void (draft.role = 'system')))).toBe('invalid-message')
    expect(refused(() => list.update('new-1', draft => void draft.content.parts.push({ type: 'text' } as never)))).toBe(
      'invalid-message',
    )
    expect(refused(() => list.update('new-1', draft => void delete (draft as { content?: unknown }).content))).toBe(
      'invalid-message',
    )
    expect(refused(() => list.update('new-1', draft => void ((draft.content as { parts: unknown }).parts = 'x')))).toBe(
      'invalid-message',
    )
    list.update('new-1', draft => void delete (draft as { createdAt?: string }).createdAt)
    expect(list.snapshot()).toBe(snapshot)
    expect(refused(() => list.addSystem({ role: 'user', content: 'x' } as never))).toBe('invalid-message')
    expect(() =>
      list.update('new-1', () => {
        throw new Error('mine')
      }),
    ).toThrow('mine')
    expect(list.snapshot()).toBe(snapshot)
  })

  it('takes older parts in a recipe for what they stand for, and keeps parts that move', () => {
    const list = newList().add(
      {
        id: 'm',
        role: 'assistant',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'input',
    )
    const [a, b] = list.find('m')!.content.parts
    list.update('m', draft => void draft.content.parts.reverse())
    expect(list.find('m')!.content.parts).toEqual([b, a])
    list.update(
      'm',
      draft =>
        void draft.content.parts.unshift(
          { type: 'thinking', thinking: 'hm' } as never,
          { type: 'tool-t', toolCallId: 'x', state: 'output-available', input: {} } as never,
        ),
    )
    expect(list.find('m')!.content.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'tool-t', toolCallId: 'x', state: 'output-available', input: {}, output: null },
      b,
      a,
    ])
    expect(list.find('m')!.content.parts[2]).toBe(b)
  })
})
