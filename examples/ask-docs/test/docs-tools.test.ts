import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDocsIndex } from '../src/docs/docs-index.ts'
import { docsTools } from '../src/docs/docs-tools.ts'
import { parseMarkdownDocument } from '../src/docs/markdown-document.ts'
import { quotablesOf, sentencesOf } from '../src/docs/markdown-sentences.ts'
import { boats, tea } from './folder.ts'

const indexOf = (files: Readonly<Record<string, string>>) =>
  createDocsIndex(Object.entries(files).map(([path, source]) => parseMarkdownDocument(path, source)))
const referencesFor = (query: string, files: Readonly<Record<string, string>> = { ...tea, ...boats }) =>
  indexOf(files)
    .search(query, 5)
    .map(({ reference }) => reference)

describe('searching', () => {
  it('finds the section whose heading and text fit best', () => {
    expect(referencesFor('how hot is the water for green tea')[0]).toBe('brewing.md#water')
    expect(referencesFor('reefing a sail')[0]).toBe('sails.md#reefing')
  })

  it('finds other forms of a word, and words with a letter wrong', () => {
    expect(referencesFor('infusions')[0]).toBe('brewing.md#time')
    expect(referencesFor('bowlinne')[0]).toBe('knots.md#bowline')
  })

  it('finds a camelCase name by the name and by its words', () => {
    const files = { 'a.md': '# A\n\nCall `processInputStep` first.', 'b.md': '# B\n\nAn input.' }
    expect(referencesFor('processInputStep', files)[0]).toBe('a.md#a')
    expect(referencesFor('process input step', files)[0]).toBe('a.md#a')
  })

  it('finds words of a script without spaces', () => {
    expect(referencesFor('東京', { 'a.md': '# A\n\n私は東京に住んでいます。', 'b.md': '# B\n\n大阪です。' })).toEqual([
      'a.md#a',
    ])
  })

  it('finds nothing for words that are not there, and for grammar alone', () => {
    expect(referencesFor('helicopter')).toEqual([])
    expect(referencesFor('how do you do it')).toEqual([])
  })

  it('shows the sentence that fits as the snippet, cut to a bounded length', () => {
    expect(indexOf(tea).search('boiling bitter', 1)[0]?.snippet).toBe('Boiling water makes it bitter.')
    const long = indexOf({ 'a.md': `# A\n\n${'word '.repeat(500)}` }).search('word', 1)[0]?.snippet
    expect(long).toHaveLength(240)
  })
})

describe('the tools', () => {
  const tools = docsTools(indexOf({ ...tea, ...boats }))
  const call = { toolCallId: 'call', messages: [], context: {} }
  const run = (tool: keyof typeof tools, input: unknown): unknown => {
    const { inputSchema, execute } = tools[tool] as unknown as {
      inputSchema: z.ZodType
      execute: (...args: unknown[]) => unknown
    }
    return execute(inputSchema.parse(input), call)
  }

  it('search with a bounded number of hits', () => {
    expect(run('searchDocs', { query: 'tea boat sail knot', limit: 2 })).toMatchObject({ hits: [{}, {}] })
    expect(() => run('searchDocs', { query: 'tea', limit: 11 })).toThrow('too_big')
  })

  it('read a section with the headings above it', () => {
    expect(run('readSection', { reference: 'knots.md#bowline' })).toEqual({
      found: true,
      reference: 'knots.md#bowline',
      heading: 'Knots > Bowline',
      text: 'A bowline makes a loop that does not slip. Tie a bowline to moor a boat.',
    })
  })

  it('read the first section of a document for a bare path', () => {
    expect(run('readSection', { reference: 'storing.md' })).toMatchObject({
      found: true,
      reference: 'storing.md#storing-tea',
    })
  })

  it('name the nearest sections when there is none of that reference', () => {
    expect(run('readSection', { reference: 'knots.md#bowlines' })).toMatchObject({
      found: false,
      problem: 'There is no section "knots.md#bowlines".',
      nearest: ['knots.md#bowline'],
    })
  })

  it('cut a long section and say so', () => {
    const long = docsTools(indexOf({ 'a.md': `# A\n\n${'x'.repeat(9_000)}` })).readSection
    const output = long.execute?.({ reference: 'a.md#a' }, call)
    expect(output).toMatchObject({ truncated: 'The first 8000 of 9000 characters', text: 'x'.repeat(8_000) })
  })

  it('list documents under a prefix, at most fifty', () => {
    expect(run('listDocuments', { prefix: 's' })).toEqual({
      total: 2,
      documents: [
        { path: 'storing.md', title: 'Storing tea' },
        { path: 'sails.md', title: 'Sails' },
      ],
      notShown: 0,
    })
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}.md`, `# ${n}\n\ntext`]))
    const output = docsTools(indexOf(many)).listDocuments.execute?.({ prefix: '' }, call)
    expect(output).toMatchObject({ total: 60, notShown: 10 })
  })
})

describe('cutting Markdown into what can be quoted', () => {
  it('gives sentences, list items and table rows as plain text, names in code kept', () => {
    const markdown = [
      'First **bold** [link](x). Second uses `a.b`, e.g. here.',
      '- item *one*\n- [ ] item two\n  - nested',
      '| a | b |\n|---|---|\n| x | `y` |',
      '![image](i.png)\n\n---',
    ].join('\n\n')
    expect(sentencesOf(markdown)).toEqual([
      'First bold link.',
      'Second uses `a.b`, e.g. here.',
      'item one',
      'item two',
      'nested',
      'x – b: `y`',
    ])
  })

  it('keeps the numbers of steps', () => {
    expect(quotablesOf('3. Install.\n4. Run it.\n   - twice')).toEqual([
      { type: 'step', text: '3. Install.' },
      { type: 'step', text: '4. Run it.' },
      { type: 'item', text: 'twice' },
    ])
  })

  it('keeps code as it stands and looks inside the tags of MDX', () => {
    const markdown =
      '<Note>\n  Mind the gap.\n</Note>\n\n```ts\nconst a = 1\n```\n\n<Table\n  rows={[\n    { a: 1 },\n  ]}\n/>'
    expect(quotablesOf(markdown)).toEqual([
      { type: 'sentence', text: 'Mind the gap.' },
      { type: 'code', text: '```ts\nconst a = 1\n```' },
    ])
  })
})
