import type { ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { continuationOf, MessageList, type MessageInput } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, partsOf, textOf, textsOf, toolOf } from './reading.ts'

const said = (id: string, text: string, role: 'user' | 'assistant' = 'user') => ({
  id,
  role,
  parts: [{ type: 'text' as const, text }],
})
const call = (toolCallId: string, more: object = { state: 'input-available', input: {} }) =>
  ({ type: 'tool-t', toolCallId, ...more }) as never
const withCall = (id: string, toolCallId: string, more?: object) => ({
  id,
  role: 'assistant' as const,
  parts: [call(toolCallId, more)],
})

describe('the order of a list', () => {
  it('is that of adding, never of time', () => {
    const list = newList()
    list.add({ ...said('late', 'late'), content: undefined, role: 'user' } as never, 'input')
    list.add(
      {
        id: 'early',
        role: 'user',
        createdAt: '1999-01-01T00:00:00Z',
        content: { format: 2, parts: [{ type: 'text', text: 'early' }] },
      },
      'input',
    )
    expect(textsOf(list)).toEqual(['late', 'early'])
  })

  it('puts what is remembered before what this run has said, in its own order', () => {
    const list = newList().add('now', 'input').add({ role: 'assistant', content: 'well' }, 'response')
    list.add(['then', 'later'], 'memory').add('much later', 'memory').add('by the way', 'context')
    expect(textsOf(list)).toEqual(['then', 'later', 'much later', 'now', 'well', 'by the way'])
    expect(newList().add('note', 'context').add('then', 'memory').getMessages().map(textOf)).toEqual(['note', 'then'])
  })
})

describe('a message with a known id', () => {
  it('is updated in its place, and what it does not say stays', () => {
    const list = newList()
    list.add([{ ...said('a', 'one'), metadata: { mood: 'good' } }, said('b', 'two')], 'input')
    const { createdAt } = list.find('a')!
    list.add(said('a', 'ONE'), 'input')
    expect(textsOf(list)).toEqual(['ONE', 'two'])
    expect(list.find('a')).toMatchObject({ createdAt, content: { metadata: { mood: 'good' } } })
  })

  it('is updated within one array as well', () => {
    expect(textsOf(newList().add([said('a', 'one'), 'two', said('a', 'ONE')], 'input'))).toEqual(['ONE', 'two'])
  })

  it('leaves the list as it is when it says the same', () => {
    const list = newList().add(said('a', 'one'), 'input')
    const snapshot = list.snapshot()
    expect(list.add(said('a', 'one'), 'input').snapshot()).toBe(snapshot)
    expect(list.add(JSON.parse(JSON.stringify(list.getMessages())), 'input').snapshot()).toBe(snapshot)
  })

  it('keeps what is remembered, whatever a client says it was', () => {
    const list = newList().add(said('a', 'what was said'), 'memory')
    const snapshot = list.snapshot()
    expect(list.add(said('a', 'what the client says'), 'input').snapshot()).toBe(snapshot)
  })

  it('becomes what is remembered when the client spoke first', () => {
    const list = newList()
      .add([said('a', 'what the client says'), 'new'], 'input')
      .add([said('a', 'what was said')], 'memory')
    expect(textsOf(list)).toEqual(['what was said', 'new'])
    expect([list.sourceOf('a'), list.get.input.db().map(textOf)]).toEqual(['memory', ['new']])
  })

  it('is the response when the run says so', () => {
    const list = newList()
      .add(said('a', 'before', 'assistant'), 'memory')
      .add(said('a', 'after', 'assistant'), 'response')
    expect([textsOf(list), list.sourceOf('a')]).toEqual([['after'], 'response'])
    expect(
      list
        .add(said('a', 'saved meanwhile', 'assistant'), 'memory')
        .get.response.db()
        .map(textOf),
    ).toEqual(['after'])
  })

  it('cannot change its role', () => {
    const list = newList().add(said('a', 'one'), 'input')
    expect(errorOf(() => list.add(said('a', 'two', 'assistant'), 'input'))).toMatchObject({
      code: 'invalid-message',
      path: 'messages[0]',
    })
  })
})

describe('a message without a known id', () => {
  it('is new, also when it says what another one says', () => {
    expect(
      textsOf(
        newList()
          .add(['yes', 'yes', said('x', 'yes')], 'input')
          .add('yes', 'input'),
      ),
    ).toEqual(['yes', 'yes', 'yes', 'yes'])
  })

  it('needs a generator that makes new ids', () => {
    const list = new MessageList({ generateId: () => 'same' })
    expect(errorOf(() => list.add(['a', 'b'], 'input'))).toMatchObject({ code: 'duplicate-id' })
    expect(list.getMessages()).toEqual([])
    expect(errorOf(() => list.add('a', 'input').add('b', 'input')).message).toContain(
      'It must return a new id each time.',
    )
  })

  it('gets a random id and the time of now by default', () => {
    const before = Date.now()
    const [message] = new MessageList().add('a', 'input').getMessages()
    expect(message!.id).toMatch(/^[\da-f-]{36}$/)
    expect(Date.parse(message!.createdAt)).toBeGreaterThanOrEqual(before)
  })
})

describe('the steps of one response', () => {
  const step = (toolCallId: string): MessageInput[] => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 't', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName: 't', output: { type: 'text', value: toolCallId } }],
    },
  ]
  const parts = ['tool-t', 'step-start', 'tool-t', 'step-start', 'text']

  it('are one message divided by step-start, however they are added', () => {
    const all = [...step('a'), ...step('b'), { role: 'assistant' as const, content: 'done' }]
    for (const source of ['response', 'memory', 'input', 'context'] as const) {
      const list = newList().add('go', 'input').add(all, source)
      const message = list.getMessages().find(({ role }) => role === 'assistant')!
      expect(message.content.parts.map(part => part.type)).toEqual(parts)
      expect(list.getMessages()).toHaveLength(2)
    }
    const list = newList().add('go', 'input')
    for (const message of all) list.add(message, 'response')
    expect(
      list
        .getMessages()
        .at(-1)!
        .content.parts.map(part => part.type),
    ).toEqual(parts)
    const halves = newList().add('go', 'input').add(all.slice(0, 3), 'input').add(all.slice(3), 'input')
    expect(
      halves
        .getMessages()
        .at(-1)!
        .content.parts.map(part => part.type),
    ).toEqual(parts)
  })

  it('stay apart from what somebody else said, and from another answer', () => {
    const list = newList().add(
      [
        { role: 'assistant', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
      'memory',
    )
    expect(textsOf(list)).toEqual(['a', 'b'])
    expect(textsOf(list.add({ role: 'assistant', content: 'c' }, 'response'))).toEqual(['a', 'b', 'c'])
    expect(textsOf(list.add('hm', 'input').add({ role: 'assistant', content: 'd' }, 'response'))).toEqual([
      'a',
      'b',
      'c',
      'hm',
      'd',
    ])
    expect(
      textsOf(
        newList().add([...step('a'), { id: 'mine', role: 'assistant', content: 'b' } as MessageInput], 'response'),
      ),
    ).toEqual(['<tool-t>', 'b'])
  })

  it('keep options of a whole text with the text', () => {
    const list = newList().add(
      [
        { role: 'assistant', content: 'a', providerOptions: { p: { k: 1 } } },
        { role: 'assistant', content: 'b' },
        { role: 'assistant', content: [], providerOptions: { p: {} } },
        { role: 'assistant', content: 'c' },
      ],
      'response',
    )
    expect(list.getMessages()[0]!.content.parts[0]).toEqual({
      type: 'text',
      text: 'a',
      providerMetadata: { p: { k: 1 } },
    })
  })

  it('keep options of a whole message with its last part', () => {
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const list = newList().add(
      [
        { ...(step('a')[0] as ModelMessage), providerOptions: cached },
        step('a')[1]!,
        { role: 'assistant', content: 'done', providerOptions: { p: {} } },
      ],
      'input',
    )
    expect(list.getMessages()[0]!.content).toMatchObject({
      parts: [{ callProviderMetadata: cached }, {}, {}],
      providerMetadata: { p: {} },
    })
    expect(list.get.all.model().at(-1)).toMatchObject({ role: 'assistant', providerOptions: { p: {} } })
  })
})

describe('a message put into a response', () => {
  const steered = () =>
    newList()
      .add('go', 'input')
      .add({ ...said('r', 'first', 'assistant'), metadata: { model: 'x' } }, 'response')
      .add(said('s', 'wait'), 'input')
      .add({ ...said('r2', 'second', 'assistant'), metadata: continuationOf('r') }, 'response')

  it('stands between two messages, which the ui view shows as one', () => {
    const list = steered()
    expect(textsOf(list)).toEqual(['go', 'first', 'wait', 'second'])
    expect(list.get.all.prompt().map(message => message.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(list.get.all.ui().slice(1)).toEqual([
      {
        id: 'r',
        role: 'assistant',
        metadata: { model: 'x' },
        parts: [
          { type: 'text', text: 'first' },
          { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'wait' }] },
          { type: 'text', text: 'second' },
        ],
      },
    ])
  })

  it('is split again when the client sends it back', () => {
    const list = steered()
    const snapshot = list.snapshot()
    expect(list.add(list.get.all.ui(), 'input').snapshot()).toBe(snapshot)
    const elsewhere = newList().add(list.get.all.ui(), 'input')
    expect(textsOf(elsewhere)).toEqual(['go', 'first', 'wait', 'second'])
    expect(elsewhere.get.all.ui()).toEqual(list.get.all.ui())
    const again = elsewhere.snapshot()
    expect(elsewhere.add(list.get.all.ui(), 'input').snapshot()).toBe(again)
  })

  it('keeps what each of them noted', () => {
    const list = newList()
      .add(said('r', 'first', 'assistant'), 'response')
      .add(
        [
          said('s', 'wait'),
          {
            id: 's2',
            role: 'user',
            parts: [
              { type: 'file', mediaType: 'a/b', url: 'https://example.com' },
              { type: 'data-x', data: 1 },
            ],
          },
        ],
        'input',
      )
    const note = { ...continuationOf('r'), tokens: 7 }
    list.add({ ...said('r2', 'second', 'assistant'), metadata: note }, 'response')
    expect(list.get.all.ui()).toMatchObject([
      { id: 'r', metadata: { tokens: 7 }, parts: [{}, { id: 's' }, { id: 's2', parts: [{ type: 'file' }] }, {}] },
    ])
    expect(
      newList()
        .add({ ...said('lone', 'x', 'assistant'), metadata: note }, 'response')
        .get.all.ui(),
    ).toMatchObject([{ metadata: { tokens: 7 } }])
    expect(
      newList()
        .add({ ...said('lone', 'x', 'assistant'), metadata: continuationOf('r') }, 'response')
        .get.all.ui()[0],
    ).not.toHaveProperty('metadata')
  })

  it('can be more than one, also at the end', () => {
    const list = steered()
      .add(said('s2', 'stop'), 'input')
      .add({ ...said('r3', 'third', 'assistant'), metadata: continuationOf('r2') }, 'response')
    expect(list.get.all.ui()[1]!.parts.map(part => part.type)).toEqual([
      'text',
      'steering-message',
      'text',
      'steering-message',
      'text',
    ])
    expect(list.add(said('s3', 'hello?'), 'input').get.all.ui()).toHaveLength(3)
    expect(newList().add(list.get.all.ui(), 'input').get.all.ui()).toEqual(list.get.all.ui())
  })

  it('stays in a message without an id, and reaches the model', () => {
    const { id: _, ...message } = steered().get.all.ui()[1]!
    const list = newList().add(['go', message as MessageInput], 'input')
    expect(list.get.all.prompt().map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })
})

describe('a tool result that comes by itself', () => {
  it('finds its call in any message, the newest first, and only advances it', () => {
    const list = newList().add(
      ['go', withCall('old', 'x'), 'well?', withCall('new', 'x'), withCall('other', 'y'), 'hm'],
      'input',
    )
    const result = (toolCallId: string, value: string): MessageInput => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName: 't', output: { type: 'text', value } }],
    })
    list.add(result('x', 'done'), 'input')
    expect([partsOf(list, 'old')[0], partsOf(list, 'new')[0]]).toMatchObject([
      { state: 'input-available' },
      { state: 'output-available', output: 'done' },
    ])
    const snapshot = list.snapshot()
    expect(list.add(result('x', 'done'), 'input').snapshot()).toBe(snapshot)
    expect(errorOf(() => list.add(result('x', 'something else'), 'input'))).toMatchObject({
      code: 'tool-state',
      path: 'messages[0].content[0]',
    })
    expect(errorOf(() => list.add(['fine', result('nobody', 'x')], 'input'))).toMatchObject({
      code: 'unknown-tool-call',
      path: 'messages[1].content[0]',
    })
    expect(list.snapshot()).toBe(snapshot)
  })

  it('answers an approval by the id of the request', () => {
    const asked = withCall('a', 'x', {
      state: 'approval-requested',
      input: {},
      approval: { id: 'ap', requestReason: 'careful' },
    })
    const answer = (approvalId: string, approved: boolean): MessageInput => ({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved, reason: 'ok' }],
    })
    const list = newList().add(['go', asked], 'memory').add(answer('ap', true), 'input')
    expect(toolOf(list, 'x')).toMatchObject({
      state: 'approval-responded',
      approval: { id: 'ap', approved: true, reason: 'ok', requestReason: 'careful' },
    })
    expect(errorOf(() => list.add(answer('ap', false), 'input'))).toMatchObject({ code: 'tool-state' })
    expect(errorOf(() => list.add(answer('forged', true), 'input'))).toMatchObject({
      code: 'forged-approval',
      path: 'messages[0].content[0]',
    })
    const together = newList().add(
      [
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'x', toolName: 't', input: {} },
            { type: 'tool-approval-request', approvalId: 'ap', toolCallId: 'x' },
          ],
        },
        answer('ap', false),
      ],
      'input',
    )
    expect(toolOf(together, 'x')).toMatchObject({
      state: 'approval-responded',
      approval: { id: 'ap', approved: false },
    })
  })
})

describe('a copy of a message that a client sends', () => {
  const open = { state: 'input-available', input: { n: 1 } }
  const asked = { state: 'approval-requested', input: { n: 1 }, approval: { id: 'ap', signature: 'sig' } }
  const send = (stored: object, copy: object) => {
    const list = newList().add(withCall('a', 'x', stored), 'memory')
    list.add({ ...withCall('a', 'x', copy), metadata: { forged: true } }, 'input')
    expect(list.find('a')!.content.metadata).toBeUndefined()
    return toolOf(list, 'x')
  }

  it('brings results of open calls, with the input that is stored', () => {
    expect(send(open, { state: 'output-available', input: { n: 'forged' }, output: 'done' })).toEqual({
      type: 'tool-t',
      toolCallId: 'x',
      state: 'output-available',
      input: { n: 1 },
      output: 'done',
    })
    expect(send({ state: 'input-streaming' }, { state: 'input-available', input: { n: 2 } })).toMatchObject({
      state: 'input-available',
      input: { n: 2 },
    })
  })

  it('brings answers to approvals that were asked for, with the request that is stored', () => {
    const answered = send(asked, {
      state: 'approval-responded',
      input: {},
      approval: { id: 'ap', approved: true, reason: 'go', signature: 'forged' },
    })
    expect(answered).toEqual({
      type: 'tool-t',
      toolCallId: 'x',
      state: 'approval-responded',
      input: { n: 1 },
      approval: { id: 'ap', approved: true, reason: 'go', signature: 'sig' },
    })
    expect(send(asked, { state: 'output-denied', input: {}, approval: { id: 'ap', approved: false } })).toMatchObject({
      state: 'output-denied',
    })
  })

  it('may refuse what nobody asked about: a refusal needs no trust', () => {
    expect(
      send(open, { state: 'output-denied', input: {}, approval: { id: 'p', approved: false, reason: 'no' } }),
    ).toMatchObject({ state: 'output-denied', input: { n: 1 }, approval: { id: 'p', approved: false, reason: 'no' } })
  })

  it('cannot take back what is further already', () => {
    const done = { state: 'output-available', input: {}, output: 'done' }
    expect(send(done, open)).toMatchObject(done)
    expect(send(done, { state: 'output-available', input: {}, output: 'other' })).toMatchObject(done)
    expect(send(open, { state: 'approval-requested', input: {}, approval: { id: 'mine' } })).toMatchObject(open)
  })

  it('cannot approve what nobody asked about, or what was refused', () => {
    const approved = (id: string) => ({ state: 'approval-responded', input: {}, approval: { id, approved: true } })
    expect(errorOf(() => send(open, approved('ap')))).toMatchObject({ code: 'forged-approval', path: 'messages[0]' })
    expect(errorOf(() => send(asked, approved('other')))).toMatchObject({ code: 'forged-approval' })
    const refused = { state: 'approval-responded', input: {}, approval: { id: 'ap', approved: false } }
    expect(
      errorOf(() =>
        send(refused, { state: 'output-available', input: {}, output: 1, approval: { id: 'ap', approved: true } }),
      ),
    ).toMatchObject({ code: 'forged-approval' })
  })

  it('adds no calls or texts to what is remembered', () => {
    const list = newList().add(withCall('a', 'x'), 'memory')
    const snapshot = list.snapshot()
    list.add({ id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'new' }, call('x'), call('y')] }, 'input')
    expect(list.add(said('a', 'no calls at all', 'assistant'), 'input').snapshot()).toBe(snapshot)
  })

  it("keeps further states and the model's view when the same source says it again", () => {
    const list = newList().add(withCall('a', 'x', open), 'response')
    list.updateTool('x', { state: 'output-available', output: 'done', modelOutput: { type: 'text', value: 'shown' } })
    list.add(
      {
        id: 'a',
        role: 'assistant',
        parts: [
          call('x', { state: 'output-available', input: { n: 1 }, output: 'done' }),
          { type: 'text', text: 'more' },
        ],
      },
      'response',
    )
    expect(partsOf(list, 'a')).toMatchObject([{ modelOutput: { value: 'shown' } }, { text: 'more' }])
    list.add({ id: 'a', role: 'assistant', parts: [call('x', open), call('z', open)] }, 'response')
    expect(partsOf(list, 'a')).toMatchObject([{ state: 'output-available' }, { state: 'input-available' }])
    expect(
      newList()
        .add(
          [withCall('b', 'y', open), withCall('b', 'y', { ...open, state: 'output-error', errorText: 'broke' })],
          'input',
        )
        .getMessages()[0]!.content.parts,
    ).toMatchObject([{ state: 'output-error' }])
  })
})

describe('reconcile', () => {
  const history = () =>
    newList().add(
      [said('s1', 'hello'), said('s2', 'hi', 'assistant'), said('s3', 'yes'), said('s4', 'ok', 'assistant')],
      'memory',
    )
  const sent = (...texts: readonly string[]) =>
    texts.map((text, index) => said(`c${index}`, text, index % 2 ? 'assistant' : 'user'))

  it('recognises a client that sends its history with other ids, or without', () => {
    const list = history().add(sent('hello', 'hi', 'yes', 'ok', 'yes'), 'input', { reconcile: true })
    expect(textsOf(list)).toEqual(['hello', 'hi', 'yes', 'ok', 'yes'])
    expect(list.get.input.db().map(({ id }) => id)).toEqual(['c4'])
    expect(
      textsOf(
        history().add(
          sent('hello', 'hi', 'yes', 'ok', 'yes').map(({ id: _, ...message }) => message),
          'input',
          { reconcile: true },
        ),
      ),
    ).toHaveLength(5)
  })

  it('recognises the part of a longer history that the list has', () => {
    const list = history().add(sent('older', 'older too', 'hello', 'hi', 'yes', 'ok', 'new'), 'input', {
      reconcile: true,
    })
    expect(list.get.input.db().map(textOf)).toEqual(['older', 'older too', 'new'])
  })

  it('leaves instructions, and messages of other kinds, to themselves', () => {
    const list = newList().add(
      [
        {
          id: 's',
          role: 'assistant',
          parts: [
            { type: 'text', text: 'see' },
            { type: 'source-url', sourceId: '1', url: 'https://example.com' },
          ],
        },
        {
          id: 'r',
          role: 'user',
          parts: [{ type: 'file', mediaType: 'a/b', url: '', providerReference: { openai: 'f' } }],
        },
        said('t', 'yes'),
        said('u', 'yes'),
      ],
      'memory',
    )
    const copy: MessageInput[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'assistant', content: 'see' },
      { role: 'user', content: [{ type: 'file', data: { openai: 'f' }, mediaType: 'a/b' }] },
      'yes',
      'yes',
    ]
    expect(list.add(copy, 'input', { reconcile: true }).getMessages()).toHaveLength(4)
    expect(list.getAllSystemMessages()).toHaveLength(1)
  })

  it('takes the longest common sequence, so that a repeated answer stays one of its own', () => {
    const list = history().add(sent('yes', 'hi', 'yes', 'ok'), 'input', { reconcile: true })
    expect(list.get.input.db().map(textOf)).toEqual(['yes'])
  })

  it('knows calls by their id and files by their address, and advances what is open', () => {
    const list = newList().add(
      [
        { id: 'f', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }] },
        withCall('a', 'x'),
      ],
      'memory',
    )
    const copy: MessageInput[] = [
      { id: 'c1', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }] },
      withCall('c2', 'x', { state: 'output-available', input: {}, output: 7 }),
    ]
    expect(list.add(copy, 'input', { reconcile: true }).getMessages()).toHaveLength(2)
    expect(toolOf(list, 'x')).toMatchObject({ output: 7 })
    expect(newList().add(copy, 'input').add(copy, 'input', { reconcile: true }).getMessages()).toHaveLength(2)
  })

  it('is asked for: otherwise nothing is dropped because it looks alike', () => {
    expect(textsOf(history().add(sent('hello', 'hi'), 'input'))).toHaveLength(6)
  })
})

describe('threads', () => {
  const list = () => newList({ threadId: 't', resourceId: 'r' })
  const from = (ids: object) => ({
    role: 'user' as const,
    content: { format: 2 as const, parts: [{ type: 'text' as const, text: 'x' }] },
    ...ids,
  })

  it('are written on messages that have none', () => {
    expect(list().add('a', 'input').getMessages()[0]).toMatchObject({ threadId: 't', resourceId: 'r' })
    expect(list().add(newList().add('a', 'input').getMessages(), 'input').getMessages()[0]).toMatchObject({
      threadId: 't',
      resourceId: 'r',
    })
  })

  it('are not mixed, but for context', () => {
    expect(errorOf(() => list().add(from({ threadId: 'other' }), 'input'))).toMatchObject({
      code: 'wrong-thread',
      path: 'messages[0].threadId',
    })
    expect(errorOf(() => list().add(from({ resourceId: 'other' }), 'memory'))).toMatchObject({
      code: 'wrong-thread',
      path: 'messages[0].resourceId',
    })
    expect(
      list()
        .add(from({ threadId: 'other' }), 'context')
        .getMessages()[0],
    ).toMatchObject({ threadId: 'other', resourceId: 'r' })
    expect(
      newList()
        .add(from({ threadId: 'any' }), 'input')
        .getMessages()[0],
    ).toMatchObject({ threadId: 'any' })
  })
})
