import { describe, expect, it } from 'vitest'
import { MessageList, type CoreMessageV4, type MessageInput } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'
import { errorOf, expectFrozen, partsOf, textsOf } from './reading.ts'

const only = (input: MessageInput | readonly MessageInput[]) => {
  const list = newList().add(input, 'input')
  expect(list.getMessages()).toHaveLength(1)
  expectFrozen(list.getMessages())
  return list.getMessages()[0]!
}
const time = '2026-01-01T00:00:00.000Z'

describe('add reads', () => {
  it('a string as what a user says', () => {
    expect(only('hi')).toEqual({
      id: 'new-1',
      role: 'user',
      createdAt: time,
      content: { format: 2, parts: [{ type: 'text', text: 'hi' }] },
    })
    expect(textsOf(newList().add(['a', '', 'b'], 'input'))).toEqual(['a', '', 'b'])
  })

  it('user model messages: text, images, files in every form of data', () => {
    const { content } = only({
      role: 'user',
      content: [
        { type: 'text', text: 'look', providerOptions: { p: { k: 1 } } },
        { type: 'image', image: new Uint8Array([0xff, 0xd8, 0xff]) },
        { type: 'image', image: new URL('https://example.com/a.png'), mediaType: 'image/png' },
        { type: 'file', data: new Uint8Array([1, 2, 3]).buffer, mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file', data: 'AQID', mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'data', data: Buffer.from([1, 2, 3]) }, mediaType: 'application/pdf' },
        {
          type: 'file',
          data: { type: 'url', url: new URL('https://example.com/b.pdf') },
          mediaType: 'application/pdf',
        },
        { type: 'file', data: { type: 'reference', reference: { openai: 'file-1' } }, mediaType: 'application/pdf' },
        { type: 'file', data: { type: 'text', text: 'héllo' }, mediaType: 'text/plain' },
        { type: 'file', data: { openai: 'file-2' }, mediaType: 'application/pdf' },
      ],
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    })
    expect(content.parts).toEqual([
      { type: 'text', text: 'look', providerMetadata: { p: { k: 1 } } },
      { type: 'file', mediaType: 'image/jpeg', url: 'data:image/jpeg;base64,/9j/' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AQID', filename: 'a.pdf' },
      { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AQID' },
      { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AQID' },
      { type: 'file', mediaType: 'application/pdf', url: 'https://example.com/b.pdf' },
      { type: 'file', mediaType: 'application/pdf', url: '', providerReference: { openai: 'file-1' } },
      { type: 'file', mediaType: 'text/plain', url: `data:text/plain;base64,${btoa('h\u00c3\u00a9llo')}` },
      { type: 'file', mediaType: 'application/pdf', url: '', providerReference: { openai: 'file-2' } },
    ])
    expect(content.providerMetadata).toEqual({ anthropic: { cacheControl: { type: 'ephemeral' } } })
  })

  it('assistant model messages: every kind of part', () => {
    const metadata = { openai: { itemId: 'x' } }
    expect(
      only({
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: metadata },
          { type: 'text', text: 'so', providerOptions: metadata },
          { type: 'file', data: 'iVBORw0=', mediaType: 'image/png' },
          { type: 'reasoning-file', data: 'AQID', mediaType: 'image/png' },
          { type: 'custom', kind: 'openai.compaction', providerOptions: metadata },
          {
            type: 'tool-call',
            toolCallId: 'a',
            toolName: 'web',
            input: { q: 1 },
            providerExecuted: true,
            providerOptions: metadata,
          },
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'web',
            output: { type: 'json', value: [1] },
            providerOptions: { openai: { itemId: 'y' } },
          },
          { type: 'tool-call', toolCallId: 'b', toolName: 'rm', input: undefined },
          { type: 'tool-approval-request', approvalId: 'ap', toolCallId: 'b', reason: 'dangerous', signature: 'sig' },
        ],
      }).content.parts,
    ).toEqual([
      { type: 'reasoning', text: 'hm', providerMetadata: metadata },
      { type: 'text', text: 'so', providerMetadata: metadata },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0=' },
      { type: 'reasoning-file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
      { type: 'custom', kind: 'openai.compaction', providerMetadata: metadata },
      {
        type: 'tool-web',
        toolCallId: 'a',
        state: 'output-available',
        input: { q: 1 },
        output: [1],
        providerExecuted: true,
        callProviderMetadata: metadata,
        resultProviderMetadata: { openai: { itemId: 'y' } },
      },
      {
        type: 'tool-rm',
        toolCallId: 'b',
        state: 'approval-requested',
        input: {},
        approval: { id: 'ap', requestReason: 'dangerous', signature: 'sig' },
      },
    ])
  })

  it('tool messages into the calls that they answer, whatever the order, and keeps what the output alone would lose', () => {
    const call = (toolCallId: string) => ({ type: 'tool-call' as const, toolCallId, toolName: 't', input: {} })
    const message = only([
      { role: 'assistant', content: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(call) },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'g', toolName: 't', output: { type: 'error-json', value: { code: 1 } } },
          { type: 'tool-result', toolCallId: 'f', toolName: 't', output: { type: 'json', value: 'text in json' } },
          {
            type: 'tool-result',
            toolCallId: 'e',
            toolName: 't',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'seen' },
                { type: 'image-data', data: 'AQID', mediaType: 'image/png' },
              ],
            },
          },
          { type: 'tool-result', toolCallId: 'd', toolName: 't', output: { type: 'execution-denied', reason: 'no' } },
          { type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'error-text', value: 'broke' } },
          { type: 'tool-result', toolCallId: 'b', toolName: 't', output: { type: 'json', value: { n: 1 } } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'a', toolName: 't', output: { type: 'text', value: '' } }],
        providerOptions: { p: { last: true } },
      },
      { role: 'assistant', content: 'done' },
    ])
    const base = { type: 'tool-t', input: {} }
    const shown = [
      { type: 'text', text: 'seen' },
      { type: 'image-data', data: 'AQID', mediaType: 'image/png' },
    ]
    expect(message.content.parts).toEqual([
      {
        ...base,
        toolCallId: 'a',
        state: 'output-available',
        output: '',
        resultProviderMetadata: { p: { last: true } },
      },
      { ...base, toolCallId: 'b', state: 'output-available', output: { n: 1 } },
      { ...base, toolCallId: 'c', state: 'output-error', errorText: 'broke' },
      { ...base, toolCallId: 'd', state: 'output-denied', approval: { id: 'd', approved: false, reason: 'no' } },
      {
        ...base,
        toolCallId: 'e',
        state: 'output-available',
        output: [shown[0], { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' }],
        modelOutput: {
          type: 'content',
          value: [shown[0], { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' }],
        },
      },
      {
        ...base,
        toolCallId: 'f',
        state: 'output-available',
        output: 'text in json',
        modelOutput: { type: 'json', value: 'text in json' },
      },
      {
        ...base,
        toolCallId: 'g',
        state: 'output-error',
        errorText: '{"code":1}',
        modelOutput: { type: 'error-json', value: { code: 1 } },
      },
      { type: 'step-start' },
      { type: 'text', text: 'done' },
    ])
  })

  it('the deprecated kinds of tool content as files', () => {
    const value = [
      { type: 'media', data: 'AQID', mediaType: 'image/png' },
      { type: 'file-data', data: 'AQID', mediaType: 'image/png', filename: 'a' },
      { type: 'file-url', url: 'https://example.com/a' },
      { type: 'image-url', url: 'https://example.com/a' },
      { type: 'file-reference', providerReference: { openai: 'f' } },
      { type: 'image-file-reference', providerReference: { openai: 'f' } },
      { type: 'file-id', fileId: { openai: 'f' } },
      { type: 'image-file-id', fileId: { openai: 'f' } },
      { type: 'file-id', fileId: 'f' },
      { type: 'custom', providerOptions: { p: {} } },
    ]
    const list = newList().add(
      [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 't', input: {} }] },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 't', output: { type: 'content', value: value as never } },
          ],
        },
      ],
      'input',
    )
    const file = (data: object, mediaType: string) => ({ type: 'file', data, mediaType })
    expect(partsOf(list, 'new-1')[0]).toMatchObject({
      output: [
        file({ type: 'data', data: 'AQID' }, 'image/png'),
        { ...file({ type: 'data', data: 'AQID' }, 'image/png'), filename: 'a' },
        file({ type: 'url', url: 'https://example.com/a' }, 'application/octet-stream'),
        file({ type: 'url', url: 'https://example.com/a' }, 'image'),
        file({ type: 'reference', reference: { openai: 'f' } }, 'application'),
        file({ type: 'reference', reference: { openai: 'f' } }, 'image'),
        file({ type: 'reference', reference: { openai: 'f' } }, 'application'),
        file({ type: 'reference', reference: { openai: 'f' } }, 'image'),
        { type: 'file-id', fileId: 'f' },
        { type: 'custom', providerOptions: { p: {} } },
      ],
    })
  })

  it('UI messages as they are, and parts of a type that it does not know', () => {
    const message = {
      id: 'u',
      role: 'assistant' as const,
      metadata: { model: 'x' },
      parts: [
        { type: 'step-start' as const },
        { type: 'text' as const, text: 'hi', state: 'done' as const },
        { type: 'hologram', beams: 3 } as never,
      ],
    }
    expect(only(message)).toEqual({
      id: 'u',
      role: 'assistant',
      createdAt: time,
      content: { format: 2, parts: message.parts, metadata: { model: 'x' } },
    })
    expect(newList().add(message, 'input').get.all.ui()).toEqual([{ ...message, parts: message.parts.slice(0, 2) }])
  })

  it('system messages of every format as instructions, never as conversation', () => {
    const list = newList().add(
      [
        { role: 'system', content: 'one', providerOptions: { p: { k: 1 } } },
        {
          id: 's',
          role: 'system',
          parts: [
            { type: 'text', text: 'two' },
            { type: 'text', text: '!', providerMetadata: { p: { k: 2 } } },
          ],
        },
        { role: 'system', content: { format: 2, parts: [{ type: 'text', text: 'three' }] } },
        'hello',
      ],
      'input',
    )
    expect(list.getAllSystemMessages()).toEqual([
      { role: 'system', content: 'one', providerOptions: { p: { k: 1 } } },
      { role: 'system', content: 'two!', providerOptions: { p: { k: 2 } } },
      { role: 'system', content: 'three' },
    ])
    expect(textsOf(list)).toEqual(['hello'])
  })

  it('UI messages of the AI SDK 4, with and without parts', () => {
    const invocation = { state: 'result', toolCallId: 'a', toolName: 'web', args: { q: 1 }, result: { hits: 2 } }
    const withParts = only({
      id: 'a',
      role: 'assistant',
      createdAt: new Date(time),
      content: 'Found two.',
      annotations: ['seen'],
      parts: [
        { type: 'step-start' },
        {
          type: 'reasoning',
          reasoning: 'hm',
          details: [
            { type: 'text', text: 'hm', signature: 'sig' },
            { type: 'redacted', data: 'xxx' },
          ],
        },
        { type: 'tool-invocation', toolInvocation: invocation },
        { type: 'source', source: { sourceType: 'url', id: 's', url: 'https://example.com', title: 'Example' } },
        { type: 'file', mimeType: 'image/png', data: 'AQID' },
        { type: 'text', text: 'Found two.' },
      ],
    })
    expect(withParts.createdAt).toBe(time)
    expect(withParts.content).toEqual({
      format: 2,
      metadata: { annotations: ['seen'] },
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 'sig' } } },
        { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'xxx' } } },
        { type: 'tool-web', toolCallId: 'a', state: 'output-available', input: { q: 1 }, output: { hits: 2 } },
        { type: 'source-url', sourceId: 's', url: 'https://example.com', title: 'Example' },
        { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
        { type: 'text', text: 'Found two.' },
      ],
    })
    const without = only({
      id: 'b',
      role: 'assistant',
      content: 'Found two.',
      reasoning: 'hm',
      toolInvocations: [
        { ...invocation, step: 0 },
        { state: 'call', toolCallId: 'b', toolName: 'web', args: {}, step: 1 },
      ],
      experimental_attachments: [{ url: 'https://example.com/a.png', contentType: 'image/png', name: 'a.png' }],
    })
    expect(without.content.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'tool-web', toolCallId: 'a', state: 'output-available', input: { q: 1 }, output: { hits: 2 } },
      { type: 'step-start' },
      { type: 'tool-web', toolCallId: 'b', state: 'input-available', input: {} },
      { type: 'step-start' },
      { type: 'text', text: 'Found two.' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png', filename: 'a.png' },
    ])
  })

  it('core messages of the AI SDK 4', () => {
    const core: readonly CoreMessageV4[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', signature: 'sig' },
          { type: 'redacted-reasoning', data: 'xxx' },
          { type: 'tool-call', toolCallId: 'a', toolName: 't', args: { q: 1 } },
          { type: 'tool-call', toolCallId: 'b', toolName: 't', args: {} },
          { type: 'tool-call', toolCallId: 'c', toolName: 't', args: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 't', result: { n: 1 } },
          { type: 'tool-result', toolCallId: 'b', toolName: 't', result: 'broke', isError: true },
          {
            type: 'tool-result',
            toolCallId: 'c',
            toolName: 't',
            result: 'x',
            experimental_content: [
              { type: 'text', text: 'x' },
              { type: 'image', data: 'AQID', mimeType: 'image/png' },
            ],
          },
        ],
      },
    ]
    const message = only(core)
    expect(message.content.parts).toMatchObject([
      { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'xxx' } } },
      { type: 'tool-t', input: { q: 1 }, output: { n: 1 } },
      { type: 'tool-t', state: 'output-error', errorText: 'broke' },
      {
        type: 'tool-t',
        modelOutput: {
          type: 'content',
          value: [
            { type: 'text', text: 'x' },
            { type: 'file', mediaType: 'image/png' },
          ],
        },
      },
    ])
    expect(
      only({
        role: 'user',
        content: [
          { type: 'image', image: 'https://example.com/a.png', mimeType: 'image/png' },
          { type: 'file', data: 'AQID', mimeType: 'application/pdf' },
        ],
      }).content.parts,
    ).toEqual([
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AQID' },
    ])
  })

  it('stored messages of Mastra, with its later tool states, and their mirrors only where there are no parts', () => {
    const tool = (toolInvocation: object) => ({
      type: 'tool-invocation',
      toolInvocation: { toolCallId: 'a', toolName: 't', args: {}, ...toolInvocation },
    })
    const message = (parts: readonly object[], more: object = {}) =>
      only({
        id: 'm',
        role: 'assistant',
        createdAt: new Date(time),
        threadId: 't',
        resourceId: 'r',
        content: { format: 2, parts: parts as never, ...more },
      })
    const stored = message(
      [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'reasoning', reasoning: 'plain', details: [] },
        tool({ state: 'partial-call', toolCallId: 'p' }),
        tool({ state: 'approval-requested', toolCallId: 'q', approval: { id: 'x' } }),
        tool({ state: 'output-error', toolCallId: 'e', errorText: 'broke' }),
        tool({ state: 'output-denied', toolCallId: 'd' }),
        { type: 'file', data: 'https://example.com/a.png', mimeType: 'image/png' },
        { type: 'error', error: 'kept' },
      ],
      {
        content: 'a mirror',
        toolInvocations: [{ state: 'result', toolCallId: 'zombie', toolName: 't', args: {}, result: 1 }],
        metadata: { k: 1 },
      },
    )
    expect(stored).toMatchObject({ createdAt: time, threadId: 't', resourceId: 'r', content: { metadata: { k: 1 } } })
    expect(stored.content.parts).toEqual([
      { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 'sig' } } },
      { type: 'reasoning', text: 'plain' },
      { type: 'tool-t', toolCallId: 'p', state: 'input-streaming', input: {} },
      { type: 'tool-t', toolCallId: 'q', state: 'approval-requested', input: {}, approval: { id: 'x' } },
      { type: 'tool-t', toolCallId: 'e', state: 'output-error', input: {}, errorText: 'broke' },
      { type: 'tool-t', toolCallId: 'd', state: 'output-denied', input: {}, approval: { id: 'd', approved: false } },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'error', error: 'kept' },
    ])
    expect(message([], { content: 'only here' }).content.parts).toEqual([{ type: 'text', text: 'only here' }])
    expect(message([]).content.parts).toEqual([])
  })

  it('older shapes that say little', () => {
    const ui = (parts: readonly object[], more: object = {}) =>
      only({ role: 'assistant', content: '', parts, ...more } as MessageInput).content.parts
    const invocation = { toolCallId: 'a', toolName: 't' }
    expect(
      ui([
        { type: 'thinking', text: 'hm' },
        { type: 'reasoning', details: [{ type: 'text' }] },
        { type: 'tool-invocation', toolInvocation: { ...invocation, state: 'result' }, preliminary: true },
        { type: 'tool-invocation', toolInvocation: { ...invocation, state: 'partial-call' } },
        { type: 'tool-invocation', toolInvocation: { ...invocation, state: 'output-error', result: 'broke' } },
        { type: 'tool-invocation', toolInvocation: { ...invocation, state: 'output-error' } },
        { type: 'source', source: { url: 'https://example.com' } },
        { type: 'file', data: 'AQID' },
        { type: 'file' },
        { type: 'source', sourceId: 'not the older kind' },
      ]),
    ).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: '' },
      { type: 'tool-t', toolCallId: 'a', state: 'output-available', input: {}, output: null, preliminary: true },
      { type: 'tool-t', toolCallId: 'a', state: 'input-streaming' },
      { type: 'tool-t', toolCallId: 'a', state: 'output-error', input: {}, errorText: 'broke' },
      { type: 'tool-t', toolCallId: 'a', state: 'output-error', input: {}, errorText: 'The tool failed.' },
      { type: 'source-url', sourceId: 'https://example.com', url: 'https://example.com' },
      { type: 'file', mediaType: 'application/octet-stream', url: 'data:application/octet-stream;base64,AQID' },
      { type: 'file', mediaType: 'application/octet-stream', url: 'data:application/octet-stream;base64,' },
      { type: 'source', sourceId: 'not the older kind' },
    ])
    expect(ui([], { experimental_attachments: [{ url: 'https://example.com/a' }] })).toEqual([
      { type: 'file', mediaType: 'application/octet-stream', url: 'https://example.com/a' },
    ])
    expect(only({ role: 'user', content: '', toolInvocations: [] } as MessageInput).content.parts).toEqual([
      { type: 'text', text: '' },
    ])
    const core: readonly CoreMessageV4[] = [
      {
        role: 'assistant',
        content: [
          { type: 'redacted-reasoning' } as never,
          ...['a', 'b', 'c'].map(toolCallId => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName: 't',
            args: undefined,
          })),
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 't',
            result: undefined,
            experimental_content: [
              { type: 'image', data: 'AQID' },
              { type: 'image', data: 'AQID', mediaType: 'image/gif' },
            ],
          },
          { type: 'tool-result', toolCallId: 'b', toolName: 't', result: 1 },
          { type: 'tool-result', toolCallId: 'c', toolName: 't', result: null, isError: true },
        ],
      },
    ]
    expect(only(core).content.parts).toMatchObject([
      { type: 'reasoning', providerMetadata: { anthropic: { redactedData: '' } } },
      {
        output: [
          { type: 'file', mediaType: 'image' },
          { type: 'file', mediaType: 'image/gif' },
        ],
      },
      { output: 1 },
      { state: 'output-error', errorText: 'null' },
    ])
  })

  it('images by their first bytes, when nobody says what they are', () => {
    const bytes = {
      png: [0x89, 0x50, 0x4e, 0x47],
      jpeg: [0xff, 0xd8, 0xff],
      gif: [0x47, 0x49, 0x46, 0x38, 0x39],
      webp: [0x52, 0x49, 0x46, 0x46],
    }
    for (const [kind, image] of Object.entries(bytes)) {
      expect(
        only({ role: 'user', content: [{ type: 'image', image: new Uint8Array(image) }] }).content.parts[0],
      ).toMatchObject({ mediaType: `image/${kind}` })
    }
    const unknown = [
      { type: 'image' as const, image: new Uint8Array([1, 2, 3]) },
      { type: 'image' as const, image: { openai: 'f' } },
    ]
    expect(only({ role: 'user', content: unknown }).content.parts).toMatchObject([
      { mediaType: 'image' },
      { mediaType: 'image' },
    ])
  })

  it('its own messages as they are, from the same process by identity', () => {
    const list = newList().add(['a', 'b'], 'input')
    expect(newList().add(list.getMessages(), 'memory').getMessages()[0]).toBe(list.getMessages()[0])
    expect(
      newList()
        .add(JSON.parse(JSON.stringify(list.getMessages())), 'memory')
        .getMessages(),
    ).toEqual(list.getMessages())
  })

  it('mixed arrays', () => {
    const list = newList().add(
      [
        'one',
        { role: 'user', content: 'two' },
        { id: 'x', role: 'user', parts: [{ type: 'text', text: 'three' }] },
        { role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'four' }] } },
      ],
      'input',
    )
    expect(textsOf(list)).toEqual(['one', 'two', 'three', 'four'])
  })
})

describe('add refuses', () => {
  const refused = (input: unknown) => {
    const list = newList()
    const error = errorOf(() => list.add(['fine', input as MessageInput], 'input'))
    expect(list.getMessages()).toEqual([])
    return { code: error.code, path: error.path }
  }

  it('what has the shape of no message, and says which shapes there are', () => {
    expect(errorOf(() => newList().add({ text: 'hi' } as never, 'input')).message).toBe(
      [
        'messages[0] has the keys text, and has the shape of no message. Give it one of these:',
        'a string: what a user says',
        '{ role, content: { format: 2, parts } }: a stored message, ours or of Mastra',
        '{ role, parts }: a UI message of the AI SDK 5, 6 or 7, or, with a text as `content`, of the AI SDK 4',
        '{ role, content: text, toolInvocations or experimental_attachments }: a UI message of the AI SDK 4 without parts',
        '{ role, content: text or parts }: a model message of the AI SDK 5, 6 or 7, or a core message of the AI SDK 4',
      ].join('\n  '),
    )
    for (const input of [
      null,
      7,
      [],
      {},
      { role: 'user' },
      { role: 'user', content: null },
      { role: 'user', parts: 'x' },
      { role: 'user', content: [], parts: [] },
    ]) {
      expect(refused(input)).toEqual({ code: 'invalid-message', path: 'messages[1]' })
    }
  })

  it('what is wrong inside, naming the path', () => {
    const ui = (part: object) => ({ role: 'assistant', parts: [{ type: 'text', text: 'ok' }, part] })
    expect(refused({ role: 'wizard', content: 'x' })).toEqual({ code: 'invalid-message', path: 'messages[1].role' })
    expect(refused({ id: '', role: 'user', content: 'x' })).toEqual({ code: 'invalid-message', path: 'messages[1].id' })
    expect(refused(ui({ type: 'text' }))).toEqual({ code: 'invalid-message', path: 'messages[1].parts[1].text' })
    expect(refused(ui({ type: 'tool-x', state: 'done', toolCallId: 'a' }))).toEqual({
      code: 'invalid-message',
      path: 'messages[1].parts[1].state',
    })
    expect(refused(ui({ type: 'tool-', state: 'input-available', toolCallId: 'a' }))).toEqual({
      code: 'invalid-message',
      path: 'messages[1].parts[1].type',
    })
    expect(refused(ui({ type: 'dynamic-tool', state: 'input-available', toolCallId: 'a' }))).toEqual({
      code: 'invalid-message',
      path: 'messages[1].parts[1].toolName',
    })
    expect(
      refused(
        ui({ type: 'tool-x', state: 'output-available', toolCallId: 'a', approval: { id: 'p', approved: false } }),
      ),
    ).toEqual({ code: 'invalid-message', path: 'messages[1].parts[1].approval.approved' })
    expect(refused(ui({ type: 'tool-invocation', toolInvocation: { toolCallId: 'a', state: 'call' } }))).toEqual({
      code: 'invalid-message',
      path: 'messages[1].parts[1].type',
    })
    expect(refused({ role: 'user', content: [{ type: 'sound' }] })).toEqual({
      code: 'invalid-message',
      path: 'messages[1].content[0].type',
    })
    expect(refused({ role: 'user', content: [7] })).toEqual({ code: 'invalid-message', path: 'messages[1].content[0]' })
    expect(refused({ role: 'tool', content: 'x' })).toEqual({
      code: 'invalid-message',
      path: 'messages[1].content[0].type',
    })
    expect(refused({ role: 'user', createdAt: 'yesterday', content: { format: 2, parts: [] } })).toEqual({
      code: 'invalid-message',
      path: 'messages[1].createdAt',
    })
    expect(refused({ role: 'user', content: { format: 2 } })).toEqual({
      code: 'invalid-message',
      path: 'messages[1].content.parts',
    })
  })

  it('to choose between two readings that differ', () => {
    expect(
      refused({
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 't', args: { n: 1 }, input: { n: 2 } }],
      }),
    ).toEqual({ code: 'ambiguous-message', path: 'messages[1].content[0]' })
    expect(refused({ role: 'assistant', content: 'one thing', parts: [{ type: 'text', text: 'another' }] })).toEqual({
      code: 'ambiguous-message',
      path: 'messages[1]',
    })
    const results = { toolCallId: 'a', toolName: 't', result: 1, output: { type: 'json', value: 1 } }
    expect(refused({ role: 'tool', content: [{ type: 'tool-result', ...results }] }).code).toBe('ambiguous-message')
    const both = { type: 'tool-call' as const, toolCallId: 'a', toolName: 't', args: { n: 1 }, input: { n: 1 } }
    const same = newList().add({ role: 'assistant', content: [both] }, 'input')
    expect(same.getMessages()).toHaveLength(1)
  })
})

describe('each view', () => {
  it('has the messages of its source in every format, under the names that other frameworks use as well', () => {
    const list = new MessageList()
      .add('a', 'memory')
      .add('b', 'input')
      .add('c', 'context')
      .add({ role: 'assistant', content: 'd' }, 'response')
    for (const [name, text] of [
      ['remembered', 'a'],
      ['input', 'b'],
      ['context', 'c'],
      ['response', 'd'],
    ] as const) {
      const view = list.get[name]
      expect(view.db().map(message => message.content.parts)).toEqual([[{ type: 'text', text }]])
      expect(view.ui()[0]!.parts).toBe(view.db()[0]!.content.parts)
      expect(view.model()).toEqual([
        { role: name === 'response' ? 'assistant' : 'user', content: [{ type: 'text', text }] },
      ])
      expect(view.core()).toBe(view.model())
      expect(view.aiV5.model()).toBe(view.model())
      expect(view.aiV5.ui()).toBe(view.ui())
      expect(view.aiV5.llmPrompt()).toEqual(view.prompt())
    }
    expect(list.get.all.db()).toBe(list.getMessages())
    expect(list.toUIMessages()).toBe(list.get.all.ui())
  })
})
