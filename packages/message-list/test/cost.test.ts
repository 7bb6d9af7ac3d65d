import { describe, expect, it, vi } from 'vitest'
import { MessageList, overlayOf, returnedEdits, type MessagePart } from '@lockstep/message-list'

const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 ? ('assistant' as const) : ('user' as const),
    createdAt: '2026-01-01T00:00:00.000Z',
    content: { format: 2 as const, parts: [{ type: 'text' as const, text: `message ${index}` }] },
  }))

/** How many elements of an array are not in another one: what had to be made anew. */
const madeAnew = (before: readonly unknown[], after: readonly unknown[]) => {
  const known = new Set(before)
  return after.filter(element => !known.has(element)).length
}

describe.each([10, 1_000, 10_000])('with %d messages before it', count => {
  const list = () => new MessageList().add(rows(count), 'memory')
  const formats = (of: MessageList) => [of.get.all.prompt(), of.get.all.model(), of.get.all.ui(), of.getMessages()]

  it('one more message is all that is converted', () => {
    const of = list()
    const before = formats(of)
    of.add('one more', 'input')
    expect(formats(of).map((after, index) => madeAnew(before[index]!, after))).toEqual([1, 1, 1, 1])
  })

  it('one changed message is all that is converted', () => {
    const of = list()
    const before = formats(of)
    of.update('m5', draft => void draft.content.parts.push({ type: 'text', text: 'more' }))
    expect(formats(of).map((after, index) => madeAnew(before[index]!, after))).toEqual([1, 1, 1, 1])
  })

  it('an overlay converts what it lays over, and nothing when it is laid again', () => {
    const of = list()
    const before = of.get.all.prompt()
    const given = of.getMessages()
    const changed = {
      ...given[3]!,
      content: { format: 2 as const, parts: [{ type: 'text' as const, text: 'changed' }] },
    }
    const { edits } = returnedEdits(given, [...given.with(3, changed), 'note'], { list: of, source: 'context' })
    const overlay = overlayOf(edits)
    const under = of.get.all.prompt({ overlay })
    expect(madeAnew(before, under)).toBe(2)
    expect(madeAnew(under, of.get.all.prompt({ overlay }))).toBe(0)
    expect(madeAnew(before, of.get.all.prompt())).toBe(0)
  })

  it('asking which messages have a part looks at one more message, and at the last ones beside it', () => {
    const of = list()
    let looks = 0
    const isLast = ({ type }: MessagePart) => ++looks > 0 && type === 'file'
    expect(of.get.all.having(isLast)).toEqual([])
    expect(looks).toBe(count)
    of.add({ id: 'f', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'https://a.b/c' }] }, 'input')
    looks = 0
    expect(of.get.all.having(isLast).map(({ id }) => id)).toEqual(['f'])
    expect(looks).toBeLessThanOrEqual(129)
    expect([of.get.input.having(isLast).length, of.get.remembered.having(isLast).length]).toEqual([1, 0])
    expect(looks).toBeLessThanOrEqual(129)
  })

  it('reading again converts nothing', () => {
    const of = list()
    const [prompt, ...rest] = formats(of)
    expect(madeAnew(prompt!, of.get.all.prompt())).toBe(0)
    expect([of.get.all.model(), of.get.all.ui(), of.getMessages()]).toEqual(rest)
    expect(of.get.all.model()).toBe(rest[0])
    expect(of.get.input.db()).toBe(of.get.input.db())
  })
})

describe('a growing response', () => {
  const call = (step: number) => ({
    type: 'tool-t' as const,
    toolCallId: `c${step}`,
    state: 'input-available' as const,
    input: { step },
  })

  it('converts each step once, however many went before', () => {
    const list = new MessageList().add('go', 'input')
    list
      .add({ id: 'r', role: 'assistant', parts: [{ type: 'step-start' }, call(0)] }, 'response')
      .updateTool('c0', { state: 'output-available', output: 0 })
    let before = list.get.all.prompt()
    for (let step = 1; step < 60; step++) {
      list.update('r', draft => void draft.content.parts.push({ type: 'step-start' }, call(step)))
      list.updateTool(`c${step}`, { state: 'output-available', output: step })
      const after = list.get.all.prompt()
      expect([after.length, madeAnew(before, after)]).toEqual([1 + 2 * (step + 1), 2])
      before = after
    }
  })

  it('freezes and converts as much in a step of 400 parts as in one of 40', () => {
    const list = new MessageList().add(rows(300), 'memory').add('go', 'input')
    list.add({ id: 'r', role: 'assistant', parts: [{ type: 'step-start' }, call(0)] }, 'response')
    const freeze = vi.spyOn(Object, 'freeze')
    const frozen: number[] = []
    let before = list.get.all.prompt()
    for (let step = 1; step <= 200; step++) {
      freeze.mockClear()
      list.append('r', [{ type: 'step-start' }, call(step)])
      list.updateTool(`c${step}`, { state: 'output-available', output: step })
      const after = list.get.all.prompt()
      frozen.push(freeze.mock.calls.length)
      expect(madeAnew(before, after)).toBeLessThanOrEqual(step === 1 ? 4 : 2)
      before = after
    }
    freeze.mockRestore()
    expect(list.find('r')!.content.parts.length).toBe(402)
    expect(new Set(frozen.slice(1)).size).toBe(1)
  })

  it('converts the last step alone for the AI SDK, when somebody is asked about a call in it', () => {
    const list = new MessageList().add(rows(300), 'memory').add('go', 'input')
    list.add(
      { id: 'r', role: 'assistant', parts: [0, 1, 2].flatMap(step => [{ type: 'step-start' as const }, call(step)]) },
      'response',
    )
    const before = list.get.all.model()
    list.append('r', [{ type: 'step-start' }, call(3)])
    list.updateTool('c3', { state: 'approval-requested', approval: { id: 'a' } })
    const asked = list.get.all.model()
    expect(asked.at(-1)).toMatchObject({ content: [{ type: 'tool-call' }, { type: 'tool-approval-request' }] })
    expect(madeAnew(before, asked)).toBe(1)
    list.updateTool('c3', { state: 'approval-responded', approval: { id: 'a', approved: true } })
    expect(madeAnew(before, list.get.all.model())).toBe(2)
    expect(list.get.response.model()).toEqual(list.get.all.model().slice(301))
  })

  it('goes on from the steps that were converted, also after a step was withdrawn, and in a fork', () => {
    const list = new MessageList().add('go', 'input')
    list.add(
      { id: 'r', role: 'assistant', parts: [0, 1, 2].flatMap(step => [{ type: 'step-start' as const }, call(step)]) },
      'response',
    )
    const before = list.get.all.prompt()
    const snapshot = list.snapshot()
    const next = (of: MessageList, id: number) => of.append('r', [{ type: 'step-start' }, call(id)])
    expect(madeAnew(before, next(list, 3).get.all.prompt())).toBe(2)
    list.restore(snapshot)
    const fork = list.fork()
    expect(madeAnew(before, next(list, 4).get.all.prompt())).toBe(2)
    expect(madeAnew(before, next(fork, 5).get.all.prompt())).toBe(2)
    expect(madeAnew(before, next(next(fork, 6), 7).get.all.prompt())).toBe(6)
    list.updateTool('c1', { state: 'output-available', output: 'in a branch that is left' }).get.all.prompt()
    next(list.restore(snapshot), 8)
    expect(list.get.all.prompt()).toEqual(MessageList.fromJSON(JSON.stringify(list)).get.all.prompt())
  })

  it('converts a step again when something in it changes, and only that step', () => {
    const list = new MessageList().add('go', 'input')
    list.add(
      { id: 'r', role: 'assistant', parts: [0, 1, 2].flatMap(step => [{ type: 'step-start' as const }, call(step)]) },
      'response',
    )
    const before = list.get.all.prompt()
    list.updateTool('c1', { state: 'output-available', output: 'late' })
    expect(madeAnew(before, list.get.all.prompt())).toBeLessThanOrEqual(4)
    list.update('r', draft => void (draft.content.metadata = { seen: true }))
    expect(madeAnew(list.get.all.prompt(), before)).toBeLessThanOrEqual(4)
  })

  it('keeps in its history what was said, not each state that it went through', () => {
    const list = new MessageList().add('go', 'input')
    list.add({ id: 'r', role: 'assistant', parts: [{ type: 'step-start' }] }, 'response')
    for (let step = 0; step < 400; step++)
      list.update('r', draft => void draft.content.parts.push({ type: 'step-start' }, call(step)))
    expect(JSON.stringify(list.changes).length).toBeLessThan(400 * 600)
  })
})

describe('adding', () => {
  it('validates 8,000 messages in one commit, or in 8,000', () => {
    const given = rows(8_000)
    const one = new MessageList().add(given, 'memory')
    const many = new MessageList()
    for (const row of given) many.add(row, 'memory')
    expect([one.changes.length, many.changes.length]).toEqual([1, 8_000])
    expect(many.toJSON()).toEqual(one.toJSON())
  })
})
