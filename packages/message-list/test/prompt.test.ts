import { convertToModelMessages } from 'ai'
import { convertToLanguageModelPrompt } from 'ai/internal'
import { describe, expect, it } from 'vitest'
import { applyOverlay, overlayOf, returnedEdits, type PromptRepair, type SystemMessage } from '@lockstep/message-list'
import { newList } from './arbitraries.ts'

const repairsOf = (parts: readonly object[], role: 'user' | 'assistant' = 'assistant') => {
  const list = newList()
    .add('go', 'input')
    .add({ id: 'a', role, parts: parts as never }, 'input')
  const stored = JSON.stringify(list)
  const repairs: PromptRepair[] = []
  const prompt = list.get.all.prompt({ onRepair: repair => repairs.push(repair) })
  const inModel: PromptRepair[] = []
  list.get.all.model({ onRepair: repair => inModel.push(repair) })
  expect(inModel).toEqual(repairs)
  expect(JSON.stringify(list)).toBe(stored)
  return {
    repairs: repairs.map(({ type }) => type),
    said: prompt
      .slice(1)
      .map(({ role: speaker, content }) => [speaker, ...(content as { type: string }[]).map(part => part.type)]),
    prompt,
    full: repairs,
  }
}
const call = (more: object = {}) => ({ type: 'tool-t', toolCallId: 'x', state: 'input-available', input: {}, ...more })
const done = { state: 'output-available', output: 1 }

describe('a prompt is repaired, and says so', () => {
  it('when a call has no result', () => {
    const { repairs, said, prompt, full } = repairsOf([call()])
    expect([repairs, said]).toEqual([
      ['unanswered-call'],
      [
        ['assistant', 'tool-call'],
        ['tool', 'tool-result'],
      ],
    ])
    expect(full[0]).toEqual({
      type: 'unanswered-call',
      messageId: 'a',
      toolCallId: 'x',
      reason: 'The call was answered with an error, because models refuse a call without a result.',
    })
    expect(prompt[2]!.content[0]).toMatchObject({
      output: { type: 'error-text', value: 'This call has no result: it was not run, or its result was lost.' },
    })
    expect(
      repairsOf([
        call({ state: 'approval-responded', approval: { id: 'p', approved: true } }),
        { type: 'step-start' },
        { type: 'text', text: 'x' },
      ]).repairs,
    ).toEqual(['unanswered-call'])
  })

  it('when the input of a call never arrived, with the reasoning before it', () => {
    expect(repairsOf([{ type: 'reasoning', text: 'hm' }, call({ state: 'input-streaming' })])).toMatchObject({
      repairs: ['unfinished-call', 'reasoning-without-call', 'empty-message'],
      said: [],
    })
    expect(
      repairsOf([
        { type: 'text', text: 'so' },
        { type: 'reasoning', text: 'hm' },
        { type: 'reasoning-file', url: 'https://example.com/a', mediaType: 'image/png' },
      ]),
    ).toMatchObject({ repairs: ['reasoning-without-call', 'reasoning-without-call'], said: [['assistant', 'text']] })
    expect(
      repairsOf([
        { type: 'reasoning', text: 'hm' },
        { type: 'reasoning-file', url: 'https://example.com/a', mediaType: 'image/png' },
        call(done),
      ]).repairs,
    ).toEqual([])
  })

  it('when a call refers to a reasoning item that is not there', () => {
    const item = (itemId: string) => ({ openai: { itemId, other: 1 } })
    const parts = [
      { type: 'reasoning', text: 'hm', providerMetadata: item('rs') },
      call({ ...done, callProviderMetadata: item('fc1') }),
      { type: 'step-start' },
      call({ ...done, toolCallId: 'y', callProviderMetadata: item('fc2') }),
    ]
    const { repairs, prompt } = repairsOf(parts)
    expect(repairs).toEqual(['call-without-reasoning'])
    expect(prompt[1]!.content[1]).toMatchObject({ providerOptions: { openai: { itemId: 'fc1' } } })
    expect(prompt[3]!.content[0]).toMatchObject({ providerOptions: { openai: { other: 1 } } })
    expect(prompt[3]!.content[0]).not.toHaveProperty('providerOptions.openai.itemId')
    expect(repairsOf(parts.slice(3)).repairs).toEqual([])
    expect(repairsOf([...parts.slice(0, 3), call({ ...done, toolCallId: 'z' })]).repairs).toEqual([])
  })

  it('when something is empty, unknown or unusable', () => {
    expect(
      repairsOf([
        { type: 'text', text: '' },
        { type: 'text', text: 'x' },
      ]),
    ).toMatchObject({ repairs: ['empty-part'], said: [['assistant', 'text']] })
    expect(repairsOf([{ type: 'text', text: '', providerMetadata: { p: {} } }]).repairs).toEqual([])
    expect(repairsOf([{ type: 'text', text: '', providerMetadata: { p: {} } }], 'user').repairs).toEqual([
      'empty-part',
      'empty-message',
    ])
    expect(
      repairsOf([
        { type: 'reasoning', text: '' },
        { type: 'text', text: 'x' },
      ]).repairs,
    ).toEqual(['empty-part'])
    expect(repairsOf([]).repairs).toEqual(['empty-message'])
    expect(repairsOf([{ type: 'hologram' }, { type: 'text', text: 'x' }]).repairs).toEqual(['unknown-part'])
    expect(
      repairsOf([
        { type: 'data-note', data: 1 },
        { type: 'source-url', sourceId: 's', url: 'https://example.com' },
        { type: 'text', text: 'x' },
      ]).repairs,
    ).toEqual([])
    for (const url of ['not an address', 'data:image/png', 'data:image/png,%E0%A4%A'])
      expect(
        repairsOf([
          { type: 'file', url, mediaType: 'image/png' },
          { type: 'text', text: 'x' },
        ]).repairs,
      ).toEqual(['unusable-file'])
    const output = {
      ...done,
      modelOutput: {
        type: 'content',
        value: [
          { type: 'text', text: 'a' },
          { type: 'file-id', fileId: 'f' },
        ],
      },
    }
    const list = newList().add({ id: 'a', role: 'assistant', parts: [call(output) as never] }, 'input')
    const repairs: PromptRepair[] = []
    expect(list.get.all.prompt({ onRepair: repair => repairs.push(repair) })[2]!.content[0]).toMatchObject({
      output: { type: 'content', value: [{ type: 'text', text: 'a' }] },
    })
    expect(repairs.map(({ type }) => type)).toEqual(['starts-with-assistant', 'unusable-file'])
    const nowhere = {
      ...done,
      modelOutput: {
        type: 'content',
        value: [{ type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'nowhere' } }],
      },
    }
    expect(repairsOf([call(nowhere)]).repairs).toEqual(['unusable-file'])
    const inline = {
      ...done,
      modelOutput: {
        type: 'content',
        value: [{ type: 'file', mediaType: 'image', data: { type: 'url', url: 'data:image/png;base64,AQID' } }],
      },
    }
    expect(repairsOf([call(inline)]).prompt[2]!.content[0]).toMatchObject({
      output: { value: [{ mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }] },
    })
  })

  it('when the conversation begins with the assistant', () => {
    const list = newList()
      .add({ id: 'hi', role: 'assistant', content: 'How can I help?' } as never, 'memory')
      .addSystem('Be kind.')
    const repairs: PromptRepair[] = []
    expect(list.get.all.prompt({ onRepair: repair => repairs.push(repair) })).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: '.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'How can I help?' }] },
    ])
    expect(repairs).toMatchObject([{ type: 'starts-with-assistant', messageId: 'hi' }])
    const { edits } = returnedEdits(list.getMessages(), [{ role: 'assistant', content: 'Yes?' }], {
      list,
      source: 'context',
    })
    const under: PromptRepair[] = []
    list.get.all.prompt({ overlay: overlayOf(edits), onRepair: repair => under.push(repair) })
    expect(under).toMatchObject([{ type: 'starts-with-assistant', messageId: 'new-1' }])
  })

  it('but not when calls are answered in another order: results stand with their calls', () => {
    const list = newList().add(
      [
        'go',
        {
          role: 'assistant',
          content: ['a', 'b'].map(toolCallId => ({ type: 'tool-call' as const, toolCallId, toolName: 't', input: {} })),
        },
        {
          role: 'tool',
          content: ['b', 'a'].map(toolCallId => ({
            type: 'tool-result' as const,
            toolCallId,
            toolName: 't',
            output: { type: 'text' as const, value: toolCallId },
          })),
        },
      ],
      'input',
    )
    expect(list.get.all.prompt({ onRepair: repair => expect.unreachable(repair.reason) })[2]!.content).toMatchObject([
      { toolCallId: 'a' },
      { toolCallId: 'b' },
    ])
  })
})

describe('a prompt', () => {
  it("is the AI SDK's own for a conversation with every part", async () => {
    const metadata = { openai: { itemId: 'i' } }
    const list = newList().add(
      [
        {
          id: 'u',
          role: 'user',
          parts: [
            { type: 'text', text: 'look', providerMetadata: metadata },
            { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID', filename: 'a.png' },
            { type: 'file', mediaType: 'application/pdf', url: '', providerReference: { openai: 'f' } },
            { type: 'data-note', data: 1 },
          ],
        },
        {
          id: 'a',
          role: 'assistant',
          parts: [
            { type: 'step-start' },
            { type: 'reasoning', text: 'hm', providerMetadata: metadata },
            { type: 'source-url', sourceId: 's', url: 'https://example.com' },
            {
              type: 'tool-web',
              toolCallId: 'w',
              state: 'output-available',
              input: { q: 1 },
              output: [1],
              providerExecuted: true,
              callProviderMetadata: metadata,
              resultProviderMetadata: { openai: { itemId: 'r' } },
            },
            {
              type: 'tool-web',
              toolCallId: 'we',
              state: 'output-error',
              input: {},
              errorText: 'broke',
              providerExecuted: true,
            },
            {
              type: 'tool-mcp',
              toolCallId: 'm',
              state: 'approval-responded',
              input: {},
              providerExecuted: true,
              approval: { id: 'p', approved: true },
            },
            {
              type: 'dynamic-tool',
              toolName: 'rm',
              toolCallId: 'd',
              state: 'output-available',
              input: {},
              output: 'gone',
              approval: {
                id: 'q',
                approved: true,
                reason: 'ok',
                requestReason: 'sure?',
                isAutomatic: true,
                signature: 's',
                inputSchemaInput: { raw: 1 },
              },
            },
            {
              type: 'tool-t',
              toolCallId: 'e',
              state: 'output-error',
              input: undefined,
              rawInput: '{',
              errorText: 'bad input',
            },
            {
              type: 'tool-t',
              toolCallId: 'n',
              state: 'approval-responded',
              input: {},
              approval: { id: 'o', approved: false, reason: 'no' },
            },
            { type: 'step-start' },
            { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png?x=1' },
            { type: 'reasoning-file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
            { type: 'custom', kind: 'openai.compaction', providerMetadata: metadata },
            { type: 'text', text: 'done', state: 'done' },
          ],
        },
        'thanks',
      ] as never,
      'input',
    )
    const sdk = await convertToModelMessages(list.get.all.ui())
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
    const prompt = (messages: never) =>
      convertToLanguageModelPrompt({
        prompt: { instructions: undefined, messages },
        supportedUrls: { '*': [/.*/] },
        download: async asked => asked.map(() => null),
      })
    expect(plain(list.get.all.prompt())).toEqual(plain(await prompt(sdk as never)))
    const roles = (messages: readonly { role: string; content: unknown }[]) =>
      messages.map(({ role, content }) => [role, ...(content as { type: string }[]).map(({ type }) => type)])
    expect(roles(list.get.all.model())).toEqual(roles(sdk))
  })

  it('leaves calls at the end open for the AI SDK, which runs what was approved', () => {
    const approved = call({ state: 'approval-responded', approval: { id: 'p', approved: true } })
    const list = newList().add(
      [
        'go',
        {
          id: 'a',
          role: 'assistant',
          parts: [call({ ...done, toolCallId: 'y' }), { type: 'step-start' }, approved] as never,
        },
      ],
      'input',
    )
    const roles = (of: typeof list) =>
      of.get.all.model().map(({ role, content }) => [role, ...(content as { type: string }[]).map(({ type }) => type)])
    expect(roles(list).slice(-2)).toEqual([
      ['assistant', 'tool-call', 'tool-approval-request'],
      ['tool', 'tool-approval-response'],
    ])
    expect(list.get.all.prompt().at(-1)!.content[0]).toMatchObject({ output: { type: 'error-text' } })
    expect(roles(list.add('never mind', 'input')).slice(-2)).toEqual([
      ['tool', 'tool-approval-response', 'tool-result'],
      ['user', 'text'],
    ])
    const asked = newList().add(
      [
        'go',
        { id: 'a', role: 'assistant', parts: [call({ state: 'approval-requested', approval: { id: 'p' } })] as never },
      ],
      'input',
    )
    expect(roles(asked).at(-1)).toEqual(['assistant', 'tool-call', 'tool-approval-request'])
    expect(roles(asked.add('never mind', 'input')).slice(1)).toEqual([
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
      ['user', 'text'],
    ])
  })

  it('leaves a refused call of the provider to the provider', () => {
    const denied = call({ state: 'output-denied', providerExecuted: true, approval: { id: 'p', approved: false } })
    expect(repairsOf([denied])).toMatchObject({
      repairs: [],
      said: [
        ['assistant', 'tool-call'],
        ['tool', 'tool-approval-response'],
      ],
    })
    expect(repairsOf([call({ providerExecuted: true, input: null })])).toMatchObject({
      repairs: [],
      said: [['assistant', 'tool-call']],
    })
  })

  it('shows the model what the tool chose to show', () => {
    const list = newList().add({ id: 'a', role: 'assistant', parts: [call() as never] }, 'response')
    list.updateTool('x', {
      state: 'output-available',
      output: { rows: 10_000 },
      modelOutput: {
        type: 'content',
        value: [
          { type: 'text', text: '10,000 rows' },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'url', url: new URL('https://example.com/chart.png') } as never,
          },
        ],
      },
    })
    const output = {
      type: 'content',
      value: [
        { type: 'text', text: '10,000 rows' },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/chart.png') } },
      ],
    }
    expect(list.get.all.prompt().at(-1)!.content[0]).toMatchObject({ output })
    expect(list.get.all.model().at(-1)!.content[0]).toMatchObject({ output })
    expect(list.get.all.prompt().at(-1)!.content[0]).not.toHaveProperty('providerOptions')
  })

  it('keeps a signed address as it was written', () => {
    const url = 'https://example.com/a b?sig=%2f'
    const list = newList().add(
      { id: 'u', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url }] },
      'input',
    )
    expect(list.get.all.prompt()[0]!.content[0]).toMatchObject({ data: { type: 'url', originalUrl: url } })
    const plain = newList().add(
      {
        id: 'u',
        role: 'user',
        parts: [
          { type: 'file', mediaType: 'text/plain', url: 'data:text/plain,h%C3%A9' },
          { type: 'file', mediaType: 'text/plain', url: 'data:,x' },
        ],
      },
      'input',
    )
    expect(plain.get.all.prompt()[0]!.content).toMatchObject([
      { data: { type: 'data', data: btoa('h\u00c3\u00a9') } },
      { mediaType: 'text/plain', data: { data: btoa('x') } },
    ])
  })

  it("takes instructions in the place of the list's, and is the caller's to change", () => {
    const list = newList()
      .add('go', 'input')
      .addSystem(['one', { role: 'system', content: 'two', providerOptions: { p: {} } }])
    const systemMessages: SystemMessage[] = [{ role: 'system', content: 'other' }]
    expect(list.get.all.prompt().slice(0, 2)).toEqual(list.getAllSystemMessages())
    const prompt = list.get.all.prompt({ systemMessages })
    expect(prompt[0]).toEqual(systemMessages[0])
    prompt.push({ role: 'user', content: [] })
    expect(list.get.all.prompt()).toHaveLength(3)
    expect(list.get.all.prompt()[2]).toBe(list.get.all.prompt()[2])
  })

  it('can be made under an overlay whose messages are gone, or came back', () => {
    const list = newList().add(['a', 'b', 'c'], 'input')
    const [a, b, c] = list.getMessages()
    const changed = { ...b!, content: { format: 2 as const, parts: [{ type: 'text' as const, text: 'B' }] } }
    const { edits } = returnedEdits([a!, b!, c!], [changed, c!, 'note'], { list, source: 'context' })
    const overlay = overlayOf(edits)
    const texts = (over: typeof overlay) =>
      list.get.all.prompt({ overlay: over }).map(({ content }) => (content[0] as { text: string }).text)
    expect(texts(overlay)).toEqual(['B', 'c', 'note'])
    const note = edits.find(edit => edit.type === 'insert')!
    const hidden = overlayOf([{ type: 'remove', id: note.message.id }], overlay)
    expect(texts(hidden)).toEqual(['B', 'c'])
    expect(texts(overlayOf([note, { type: 'insert', message: a!, source: 'input' }], hidden))).toEqual([
      'a',
      'B',
      'c',
      'note',
    ])
    expect(texts(overlayOf([note], overlay))).toEqual(['B', 'c', 'note'])
    expect(texts(overlayOf([{ type: 'order', ids: ['new-3', 'new-2'] }], overlay))).toEqual(['c', 'B', 'note'])
    list.removeByIds(['new-1', 'new-2'])
    expect([texts(overlay), applyOverlay(list.getMessages(), overlay).length]).toEqual([['c', 'note'], 2])
  })

  it('can be made under an overlay for one source as well', () => {
    const list = newList().add('old', 'memory').add(['a', 'b'], 'input')
    const { edits } = returnedEdits(list.get.input.db(), [list.get.input.db()[1]!, 'c'], { list, source: 'context' })
    const overlay = overlayOf(edits)
    const texts = (prompt: readonly { content: unknown }[]) =>
      prompt.map(({ content }) => (content as { text: string }[])[0]!.text)
    expect(texts(list.get.input.prompt({ overlay }))).toEqual(['b', 'c'])
    expect(texts(list.get.all.prompt({ overlay }))).toEqual(['old', 'b', 'c'])
    expect(applyOverlay(list.get.input.db(), overlay)).toHaveLength(2)
    expect(list.getMessages()).toHaveLength(3)
  })
})
