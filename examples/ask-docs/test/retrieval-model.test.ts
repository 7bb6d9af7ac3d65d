import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { generateText, isStepCount, streamText, type ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { createDocsIndex } from '../src/docs/docs-index.ts'
import { docsTools } from '../src/docs/docs-tools.ts'
import { parseMarkdownDocument } from '../src/docs/markdown-document.ts'
import { retrievalModel } from '../src/model/retrieval-model.ts'
import { boats, tea } from './folder.ts'

type Files = Readonly<Record<string, string>>

const toolsOver = (files: Files) =>
  docsTools(createDocsIndex(Object.entries(files).map(([path, source]) => parseMarkdownDocument(path, source))))
const counter = () => {
  let count = 0
  return () => `id-${count++}`
}
const settings = (files: Files, instructions = 'Answer from the documents. Cite your sources.') => ({
  model: retrievalModel({ generateId: counter() }),
  tools: toolsOver(files),
  stopWhen: isStepCount(6),
  instructions,
})
const ask = (question: string, files: Files = tea, instructions?: string) =>
  generateText({ ...settings(files, instructions), prompt: question })
const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] })
async function collect<Item>(stream: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of stream) items.push(item)
  return items
}
const searchTool = {
  type: 'function',
  name: 'lookUp',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
} as const

async function partsOf(options: Partial<LanguageModelV4CallOptions>): Promise<readonly LanguageModelV4StreamPart[]> {
  const { stream } = await retrievalModel({ generateId: counter() }).doStream({
    prompt: [user('green tea')],
    ...options,
  })
  return collect(stream)
}

describe('a run of the retrieval model', () => {
  it('searches in two ways at once, reads the best sections at once, and answers with quotes and citations', async () => {
    const { steps, text } = await ask('How long should green tea steep at a maximum?')
    expect(steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([
      ['searchDocs', 'searchDocs'],
      ['readSection', 'readSection', 'readSection'],
      [],
    ])
    expect(text).toContain('Let green tea steep for two minutes.')
    expect(text).toContain('[brewing.md#time]')
  })

  it('lists the documents beside its search when it knows no other words', async () => {
    const { steps } = await ask('Is boiling water bitter?')
    expect(steps[0]?.toolCalls.map(({ toolName }) => toolName)).toEqual(['searchDocs', 'listDocuments'])
  })

  it('calls with other arguments and cites other sections over another folder', async () => {
    const question = 'How is the cache cleared?'
    const overRedis = await ask(question, { 'redis.md': '# Cache\n\nThe cache is cleared with `FLUSHALL`.' })
    const overBrowser = await ask(question, { 'a/browser.md': '# Storage\n\nPress F5 twice and the cache is cleared.' })
    expect(overRedis.steps[1]?.toolCalls.map(({ input }) => input)).toEqual([{ reference: 'redis.md#cache' }])
    expect(overBrowser.steps[1]?.toolCalls.map(({ input }) => input)).toEqual([{ reference: 'a/browser.md#storage' }])
    expect(overRedis.text).toBe('The cache is cleared with `FLUSHALL`. [redis.md#cache]')
    expect(overBrowser.text).toBe('Press F5 twice and the cache is cleared. [a/browser.md#storage]')
  })

  it('quotes only what the sections say, word for word', async () => {
    const { text } = await ask('What water does green tea want?')
    const corpus = Object.values(tea).join(' ')
    for (const sentence of text.replace(/ \[[^\]]+\]/g, '').split(/(?<=\.)\s+/)) expect(corpus).toContain(sentence)
  })

  it('cites only when a system message says cite in so many words', async () => {
    expect((await ask('How long does green tea steep?', tea, 'Name your sources.')).text).not.toContain('[')
    expect((await ask('How long does green tea steep?', tea, 'A citation is missing.')).text).toContain(
      '[brewing.md#time]',
    )
  })

  it('takes up the last question in one that leans on it', async () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'How do I reef a sail?' },
      { role: 'assistant', content: 'Before the wind is too strong.' },
      { role: 'user', content: 'and why does it help?' },
    ]
    const { steps } = await generateText({ ...settings(boats), messages })
    expect(steps[0]?.toolCalls[0]?.input).toMatchObject({ query: 'reef sail' })
    const afresh = await generateText({
      ...settings(boats),
      messages: messages.with(2, { role: 'user', content: 'Bowline loop?' }),
    })
    expect(afresh.steps[0]?.toolCalls[0]?.input).toMatchObject({ query: 'Bowline loop' })
  })

  it('says so plainly when nothing matches, after a look at the list, and names documents that are there', async () => {
    const { steps, text } = await ask('Who invented the helicopter?')
    expect(steps.at(-2)?.toolCalls.map(({ toolName }) => toolName)).toContain('listDocuments')
    expect(text).toBe(
      'I found nothing about “invented”, “helicopter” in the documents. The nearest are:\n\n- brewing.md (Brewing tea)\n- storing.md (Storing tea)',
    )
  })

  it('does not answer from a section that has one word of many', async () => {
    const { text } = await ask('Which green submarine crossed the ocean?')
    expect(text).toMatch(/^I found nothing about “submarine”, “crossed”, “ocean”/)
  })

  it('asks for a question when there is none', async () => {
    expect((await ask('and how do you do it?')).text).toBe(
      'I see no key words in that question. Ask with words that the documents would use.',
    )
  })

  it('quotes the snippets when it may not read, and says that it has not looked when it may not search', async () => {
    const { searchDocs } = toolsOver(tea)
    const question = { ...settings(tea), prompt: 'How long does green tea steep?' }
    expect((await generateText({ ...question, tools: { searchDocs } })).text).toContain(
      'Let green tea steep for two minutes.',
    )
    expect((await generateText({ ...question, toolChoice: 'none' })).text).toBe(
      'I have not looked in the documents, so I cannot answer.',
    )
  })

  it('answers from what it has when a tool fails', async () => {
    const { searchDocs, readSection } = toolsOver(tea)
    const broken = { ...readSection, execute: () => Promise.reject(new Error('The disk is gone.')) }
    const { text } = await generateText({
      ...settings(tea),
      tools: { searchDocs, broken },
      prompt: 'How long does green tea steep?',
    })
    expect(text).toContain('Let green tea steep for two minutes. [brewing.md#time]')
  })

  it('streams the same answer that it generates', async () => {
    const question = 'How long does green tea steep?'
    const stream = streamText({ ...settings(tea), prompt: question })
    const deltas = await collect(stream.textStream)
    expect(deltas.join('')).toBe((await ask(question)).text)
    expect(deltas.length).toBeGreaterThan(10)
  })

  it('reports the tokens that it estimates', async () => {
    const prompt = [user('green tea')]
    const { content, usage } = await retrievalModel().doGenerate({ prompt })
    expect(usage.inputTokens.total).toBe(Math.ceil(JSON.stringify([prompt, []]).length / 4))
    expect(usage.outputTokens.total).toBe(Math.ceil(JSON.stringify(content).length / 4))
    expect(usage.raw).toEqual({ estimatedAs: 'characters / 4' })
  })

  it('warns of settings that have no effect on it', async () => {
    const { warnings } = await retrievalModel().doGenerate({ prompt: [user('green tea')], temperature: 1 })
    expect(warnings).toEqual([
      { type: 'unsupported', feature: 'temperature', details: 'The retrieval model decides by rules.' },
    ])
  })
})

describe('one call of the retrieval model', () => {
  it('streams a tool call as a provider does', async () => {
    expect(await partsOf({ tools: [searchTool] })).toMatchObject([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'id-1', modelId: 'retrieval' },
      { type: 'tool-input-start', id: 'id-0', toolName: 'lookUp' },
      { type: 'tool-input-delta', id: 'id-0', delta: '{"query":"gr' },
      { type: 'tool-input-delta', id: 'id-0', delta: 'een tea"}' },
      { type: 'tool-input-end', id: 'id-0' },
      { type: 'tool-call', toolCallId: 'id-0', toolName: 'lookUp', input: '{"query":"green tea"}' },
      { type: 'finish', finishReason: { unified: 'tool-calls' } },
    ])
  })

  it('streams text word by word and loses none of it', async () => {
    const parts = await partsOf({})
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'response-metadata',
      'text-start',
      ...Array.from({ length: 12 }, () => 'text-delta'),
      'text-end',
      'finish',
    ])
    const text = parts.flatMap(part => (part.type === 'text-delta' ? [part.delta] : [])).join('')
    const { content } = await retrievalModel().doGenerate({ prompt: [user('green tea')] })
    expect(content).toEqual([{ type: 'text', text }])
  })

  it('knows a tool by what it takes, not by its name', async () => {
    const other = {
      ...searchTool,
      name: 'other',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    } as const
    const parts = await partsOf({ tools: [other, searchTool] })
    expect(parts.flatMap(part => (part.type === 'tool-call' ? [part.toolName] : []))).toEqual(['lookUp'])
  })

  it('obeys every tool choice', async () => {
    const called = async (options: Partial<LanguageModelV4CallOptions>) =>
      (await partsOf({ tools: [searchTool], ...options })).flatMap(part =>
        part.type === 'tool-call' ? [part.input] : [],
      )
    const searched: LanguageModelV4Prompt = [
      user('green tea'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'lookUp', input: {} }] },
    ]
    expect(await called({ prompt: searched, toolChoice: { type: 'auto' } })).toEqual([])
    expect(await called({ toolChoice: { type: 'none' } })).toEqual([])
    expect(await called({ prompt: searched, toolChoice: { type: 'required' } })).toEqual(['{"query":"green tea"}'])
    expect(await called({ prompt: searched, toolChoice: { type: 'tool', toolName: 'lookUp' } })).toEqual([
      '{"query":"green tea"}',
    ])
  })

  it('asks for nothing more than once when results are not what it understands', async () => {
    const strange: LanguageModelV4Prompt = [
      user('green tea'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'lookUp', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'lookUp', output: { type: 'text', value: 'not JSON' } },
          { type: 'tool-result', toolCallId: '2', toolName: 'lookUp', output: { type: 'json', value: { hits: 7 } } },
          { type: 'tool-result', toolCallId: '3', toolName: 'lookUp', output: { type: 'error-text', value: 'no' } },
          { type: 'tool-result', toolCallId: '4', toolName: 'lookUp', output: { type: 'execution-denied' } },
        ],
      },
    ]
    const parts = await partsOf({ prompt: strange, tools: [searchTool] })
    const text = parts.flatMap(part => (part.type === 'text-delta' ? [part.delta] : [])).join('')
    expect(text).toBe('I found nothing about “green”, “tea” in the documents.')
  })

  it('stops in the middle of a stream when it is aborted, with the reason of the signal', async () => {
    const abort = new AbortController()
    const { stream } = await retrievalModel({ chunkDelayMs: 1 }).doStream({
      prompt: [user('green tea')],
      abortSignal: abort.signal,
    })
    const reader = stream.getReader()
    await reader.read()
    await reader.read()
    abort.abort(new Error('enough'))
    await expect(reader.read()).rejects.toThrow('enough')
  })

  it('does not start when it is aborted before', async () => {
    const options = { prompt: [user('green tea')], abortSignal: AbortSignal.abort(new Error('never')) }
    await expect(retrievalModel().doStream(options)).rejects.toThrow('never')
    await expect(retrievalModel().doGenerate(options)).rejects.toThrow('never')
  })

  it('is the same for the same prompt, in whatever runs it serves at once', async () => {
    const model = retrievalModel({ generateId: () => 'id' })
    const options = { prompt: [user('green tea')], tools: [searchTool] }
    const replies = await Promise.all(Array.from({ length: 20 }, () => model.doGenerate(options)))
    expect(new Set(replies.map(reply => JSON.stringify(reply))).size).toBe(1)
  })
})
