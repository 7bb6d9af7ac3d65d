import { describe, expect, it } from 'vitest'
import type { ToolChange } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, toolOf } from './reading.ts'

const listWith = (part: object) =>
  newList().add(
    { id: 'a', role: 'assistant', parts: [{ type: 'tool-t', toolCallId: 'x', ...part } as never] },
    'response',
  )
const open = { state: 'input-available', input: { n: 1 } }
const request: ToolChange = { state: 'approval-requested', approval: { id: 'ap', requestReason: 'careful' } }
const answer = (approved: boolean): ToolChange => ({
  state: 'approval-responded',
  approval: { id: 'ap', approved, reason: 'r' },
})

describe('updateTool', () => {
  it('takes a call through all its states', () => {
    const list = listWith({ state: 'input-streaming' })
    const states = (
      [
        { state: 'input-available', input: { n: 1 } },
        { state: 'input-available', input: { n: 2 } },
        request,
        answer(true),
        { state: 'output-available', output: 1, preliminary: true },
        { state: 'output-available', output: 2, preliminary: true },
        { state: 'output-available', output: 3 },
      ] as const
    ).map(change => {
      list.updateTool('x', change)
      return toolOf(list, 'x')
    })
    const approval = { id: 'ap', requestReason: 'careful' }
    const base = { type: 'tool-t', toolCallId: 'x', input: { n: 2 } }
    expect(states).toEqual([
      { ...base, input: { n: 1 }, state: 'input-available' },
      { ...base, state: 'input-available' },
      { ...base, state: 'approval-requested', approval },
      { ...base, state: 'approval-responded', approval: { ...approval, approved: true, reason: 'r' } },
      {
        ...base,
        state: 'output-available',
        output: 1,
        preliminary: true,
        approval: { ...approval, approved: true, reason: 'r' },
      },
      {
        ...base,
        state: 'output-available',
        output: 2,
        preliminary: true,
        approval: { ...approval, approved: true, reason: 'r' },
      },
      { ...base, state: 'output-available', output: 3, approval: { ...approval, approved: true, reason: 'r' } },
    ])
  })

  it('records errors, refusals and what the model is shown', () => {
    expect(
      toolOf(
        listWith(open).updateTool('x', { state: 'output-error', errorText: 'broke', providerMetadata: { p: {} } }),
        'x',
      ),
    ).toEqual({
      type: 'tool-t',
      toolCallId: 'x',
      input: { n: 1 },
      state: 'output-error',
      errorText: 'broke',
      resultProviderMetadata: { p: {} },
    })
    expect(toolOf(listWith(open).updateTool('x', { state: 'output-denied', reason: 'no' }), 'x')).toMatchObject({
      state: 'output-denied',
      approval: { id: 'x', approved: false, reason: 'no' },
    })
    expect(
      toolOf(
        listWith(open)
          .updateTool('x', request)
          .updateTool('x', answer(false))
          .updateTool('x', { state: 'output-denied' }),
        'x',
      ),
    ).toMatchObject({ approval: { id: 'ap', approved: false, reason: 'r', requestReason: 'careful' } })
    const shown = listWith(open).updateTool('x', {
      state: 'output-available',
      output: undefined,
      modelOutput: { type: 'content', value: [{ type: 'image-data', data: 'AQID', mediaType: 'image/png' }] },
    })
    expect(toolOf(shown, 'x')).toMatchObject({
      output: null,
      modelOutput: {
        type: 'content',
        value: [{ type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' }],
      },
    })
    expect(shown.get.all.ui()[0]!.parts[0]).not.toHaveProperty('modelOutput')
    expect(shown.get.all.ui()[0]!.parts[0]).toMatchObject({ output: null })
  })

  it('keeps what JSON keeps of an output, and bytes', () => {
    const output = {
      when: new Date(0),
      where: new URL('https://example.com'),
      bytes: new Uint8Array([1, 2, 3]),
      nothing: undefined,
      odd: NaN,
      run: () => 1,
      list: [undefined, -0],
    }
    expect(toolOf(listWith(open).updateTool('x', { state: 'output-available', output }), 'x')).toMatchObject({
      output: {
        when: '1970-01-01T00:00:00.000Z',
        where: 'https://example.com/',
        bytes: 'AQID',
        odd: null,
        list: [null, 0],
      },
    })
    expect(
      errorOf(() => listWith(open).updateTool('x', { state: 'output-available', output: { n: 1n } })),
    ).toMatchObject({ code: 'unsafe-data', path: 'the change of tool call "x".output.n' })
  })

  it('lets a person edit the input with the answer', () => {
    const list = listWith(open)
      .updateTool('x', request)
      .updateTool('x', { state: 'approval-responded', approval: { id: 'ap', approved: true }, input: { n: 9 } })
    expect(toolOf(list, 'x')).toMatchObject({ input: { n: 9 } })
    expect(toolOf(listWith(open).updateTool('x', { ...request, input: { n: 8 } }), 'x')).toMatchObject({
      input: { n: 8 },
    })
  })

  it('gives a call an input when it never got one', () => {
    const streaming = () => listWith({ state: 'input-streaming' })
    expect(toolOf(streaming().updateTool('x', { state: 'input-available', input: undefined }), 'x')).toMatchObject({
      input: null,
    })
    expect(toolOf(streaming().updateTool('x', { state: 'output-denied' }), 'x')).toMatchObject({ input: null })
    expect(toolOf(streaming().updateTool('x', { state: 'output-error', errorText: 'cut off' }), 'x')).toMatchObject({
      input: null,
    })
  })

  it('works for dynamic tools', () => {
    const list = newList().add(
      {
        id: 'a',
        role: 'assistant',
        parts: [{ type: 'dynamic-tool', toolName: 'd', toolCallId: 'x', state: 'input-available', input: {} }],
      },
      'memory',
    )
    list.add(
      {
        id: 'a',
        role: 'assistant',
        parts: [{ type: 'tool-d', toolCallId: 'x', state: 'output-available', input: {}, output: 1 } as never],
      },
      'input',
    )
    expect(toolOf(list, 'x')).toEqual({
      type: 'dynamic-tool',
      toolName: 'd',
      toolCallId: 'x',
      state: 'output-available',
      input: {},
      output: 1,
    })
  })

  it('only advances', () => {
    const done = listWith(open).updateTool('x', { state: 'output-available', output: 1 })
    for (const change of [
      { state: 'input-available', input: {} },
      request,
      { state: 'output-available', output: 2 },
      { state: 'output-error', errorText: 'x' },
      { state: 'output-denied' },
    ] as const) {
      const snapshot = done.snapshot()
      expect(errorOf(() => done.updateTool('x', change)).code).toBe('tool-state')
      expect(done.snapshot()).toBe(snapshot)
    }
    const snapshot = done.snapshot()
    expect(done.updateTool('x', { state: 'output-available', output: 1 }).snapshot()).toBe(snapshot)
    expect(
      errorOf(() =>
        listWith(open)
          .updateTool('x', request)
          .updateTool('x', { ...request, approval: { id: 'again' } }),
      ).code,
    ).toBe('tool-state')
  })

  it('gives no result to a call that waits for an approval or was refused', () => {
    const asked = listWith(open).updateTool('x', request)
    expect(errorOf(() => asked.updateTool('x', { state: 'output-available', output: 1 })).message).toBe(
      'tool call "x" (t) waits for an approval and cannot have a result. Answer the approval first, or set the state "output-denied".',
    )
    expect(
      errorOf(() => asked.updateTool('x', answer(false)).updateTool('x', { state: 'output-error', errorText: '' }))
        .message,
    ).toContain('was refused')
  })

  it('answers only the approval that was asked for', () => {
    expect(errorOf(() => listWith(open).updateTool('x', answer(true)))).toMatchObject({ code: 'forged-approval' })
    expect(
      errorOf(() =>
        listWith(open)
          .updateTool('x', request)
          .updateTool('x', { state: 'approval-responded', approval: { id: 'other', approved: true } }),
      ).message,
    ).toContain('asked for approval "ap", and "other" answers another one')
  })

  it('names a call that nobody made', () => {
    expect(errorOf(() => newList().updateTool('x', request))).toMatchObject({ code: 'unknown-tool-call' })
  })
})
