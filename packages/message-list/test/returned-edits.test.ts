import { describe, expect, it } from 'vitest'
import { returnedEdits, type MessageInput } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, textsOf, toolOf } from './reading.ts'

const abc = () => newList().add(['a', 'b', 'c'], 'input')
const editsOf = (list: ReturnType<typeof abc>, returned: readonly MessageInput[]) =>
  returnedEdits(list.getMessages(), returned, { list, source: 'context' })
const result = (toolCallId: string, value: string): MessageInput => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 't', output: { type: 'text', value } }],
})
const withCall = (id: string, toolCallId: string) => ({
  id,
  role: 'assistant' as const,
  parts: [{ type: 'tool-t', toolCallId, state: 'input-available', input: {} } as never],
})

describe('a returned array', () => {
  it('puts what is new after its left neighbour, or before its right one', () => {
    const list = abc()
    const [a, b, c] = list.getMessages()
    const { edits } = editsOf(list, ['first', a!, 'between', b!, c!, 'last'])
    expect(edits).toMatchObject([
      { type: 'insert', source: 'context', before: 'new-1' },
      { type: 'insert', after: 'new-1', before: 'new-2' },
      { type: 'insert', after: 'new-3' },
    ])
    expect(edits[2]).not.toHaveProperty('before')
    expect(textsOf(list.apply(edits))).toEqual(['first', 'a', 'between', 'b', 'c', 'last'])
    const empty = newList()
    expect(editsOf(empty, ['x', 'y']).edits).toMatchObject([{ type: 'insert' }, { type: 'insert', after: 'new-1' }])
  })

  it('keeps what a replacement does not say, and takes a stored message as all there is to say', () => {
    const list = newList()
    list.add({ id: 'a', role: 'user', metadata: { k: 1 }, parts: [{ type: 'text', text: 'a' }] }, 'input')
    const given = list.getMessages()[0]!
    const [edit] = editsOf(list, [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'A' }] }]).edits
    expect(edit).toMatchObject({
      type: 'replace',
      message: { createdAt: given.createdAt, content: { metadata: { k: 1 } } },
    })
    const other = newList()
      .add({ id: 'a', role: 'user', parts: [{ type: 'text', text: 'A' }] }, 'input')
      .getMessages()
    expect(editsOf(list, other).edits).toMatchObject([{ type: 'replace', message: other[0] }])
  })

  it('replaces a message of the list that was not given', () => {
    const list = newList().add('old', 'memory').add('new', 'input')
    const returned = [{ id: 'new-1', role: 'user', parts: [{ type: 'text', text: 'OLD' }] }] as const
    const { edits } = returnedEdits(list.get.input.db(), [...list.get.input.db(), ...returned], {
      list,
      source: 'input',
    })
    expect(edits.map(({ type }) => type)).toEqual(['replace'])
    expect(textsOf(list.apply(edits))).toEqual(['OLD', 'new'])
  })

  it('gives system messages back separately', () => {
    const list = abc()
    const { edits, systemMessages } = editsOf(list, [{ role: 'system', content: 'Be kind.' }, ...list.getMessages()])
    expect([edits, systemMessages]).toEqual([[], [{ role: 'system', content: 'Be kind.' }]])
  })

  it('may hold model messages: neighbours make one response, results go to calls before them', () => {
    const list = newList().add(['go', withCall('old', 'x'), 'then', withCall('late', 'y')], 'input')
    const [go, old, then, late] = list.getMessages()
    const call: MessageInput = {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'z', toolName: 't', input: {} }],
    }
    const { edits } = editsOf(list, [
      go!,
      old!,
      then!,
      late!,
      result('y', 'Y'),
      call,
      result('z', 'Z'),
      { role: 'assistant', content: 'done' },
      result('x', 'X'),
    ])
    expect(edits.map(({ type }) => type)).toEqual(['replace', 'replace', 'insert'])
    list.apply(edits)
    expect(['x', 'y', 'z'].map(id => toolOf(list, id))).toMatchObject([
      { output: 'X' },
      { output: 'Y' },
      { output: 'Z' },
    ])
    expect(
      list
        .getMessages()
        .at(-1)!
        .content.parts.map(({ type }) => type),
    ).toEqual(['tool-t', 'step-start', 'text'])
    expect(errorOf(() => editsOf(abc(), [result('nobody', '')])).code).toBe('unknown-tool-call')
    expect(
      errorOf(() =>
        editsOf(abc(), [
          { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }] },
        ]),
      ).code,
    ).toBe('forged-approval')
  })

  it('gives a result to a call in a message that it changes itself', () => {
    const list = newList().add(['go', withCall('a', 'x')], 'input')
    const [go, call] = list.getMessages()
    const moved = { ...call!, content: { ...call!.content, metadata: { seen: true } } }
    const { edits } = editsOf(list, [moved, go!, result('x', 'X')])
    expect(edits.map(({ type }) => type)).toEqual(['replace', 'order'])
    expect(list.apply(edits).find('a')!.content).toMatchObject({ metadata: { seen: true }, parts: [{ output: 'X' }] })
  })

  it('answers approvals of given messages', () => {
    const list = newList().add(
      [
        {
          ...withCall('a', 'x'),
          parts: [
            { type: 'tool-t', toolCallId: 'x', state: 'approval-requested', input: {}, approval: { id: 'p' } } as never,
          ],
        },
        'hm',
      ],
      'input',
    )
    list.apply(
      editsOf(list, [
        ...list.getMessages(),
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }] },
      ]).edits,
    )
    expect(toolOf(list, 'x')).toMatchObject({ state: 'approval-responded' })
  })

  it('has each message once', () => {
    const list = abc()
    const [a, b, c] = list.getMessages()
    const message =
      'The returned array has the message "new-1" twice. Return each message once; a copy needs an id of its own.'
    expect(errorOf(() => editsOf(list, [a!, b!, c!, a!])).message).toBe(message)
    expect(errorOf(() => editsOf(list, [a!, b!, c!, { ...a!, content: { ...a!.content, parts: [] } }])).message).toBe(
      message,
    )
    expect(errorOf(() => editsOf(list, [b!, a!, a!])).message).toBe(message)
  })

  it('is compared at the cost of what changed', () => {
    const list = newList().add(
      Array.from({ length: 20_000 }, (_, index) => `${index}`),
      'memory',
    )
    const given = list.getMessages()
    const { edits } = editsOf(list, [...given, 'note'])
    expect(edits).toHaveLength(1)
    expect(
      editsOf(list, given.with(10_000, { ...given[10_000]!, content: { format: 2, parts: [] } })).edits,
    ).toHaveLength(1)
  })
})
