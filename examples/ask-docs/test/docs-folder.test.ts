import { chmodSync, closeSync, ftruncateSync, openSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeSkipped, readDocsFolder } from '../src/docs/docs-folder.ts'
import { parseMarkdownDocument } from '../src/docs/markdown-document.ts'
import { AskDocsError } from '../src/errors.ts'
import { folderOf, tea } from './folder.ts'

const skippedIn = async (folder: string) => (await readDocsFolder(folder)).skipped

/** Root may read everything, so there the work is done as nobody. */
async function withoutPrivileges<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

describe('reading a folder', () => {
  it('reads Markdown of every ending, in every depth, sorted by path', async () => {
    const folder = folderOf({ 'b/c/d.mdx': '# D\n\nd', 'b.MARKDOWN': '# B\n\nb', 'a.md': '# A\n\na', 'c.txt': 'no' })
    expect((await readDocsFolder(folder)).documents.map(({ path }) => path)).toEqual([
      'a.md',
      'b.MARKDOWN',
      'b/c/d.mdx',
    ])
  })

  it('passes over node_modules, hidden folders and what it is told to ignore', async () => {
    const folder = folderOf({ 'a.md': 'a', 'node_modules/x/b.md': 'b', '.git/c.md': 'c', 'old/d.md': 'd', 'e.md': 'e' })
    const { documents, skipped } = await readDocsFolder(folder, path => path === 'old' || path === 'e.md')
    expect(documents.map(({ path }) => path)).toEqual(['a.md'])
    expect(skipped).toEqual([])
  })

  it('says which folder is missing and how to give another', async () => {
    const reading = readDocsFolder('/no/such/folder')
    await expect(reading).rejects.toThrow('There is no folder "/no/such/folder". Check the path given with --docs.')
    await expect(reading).rejects.toSatisfy(error => AskDocsError.isInstance(error) && error.code === 'folder-missing')
  })

  it('says that a file is not a folder', async () => {
    const file = join(folderOf({ 'a.md': 'a' }), 'a.md')
    await expect(readDocsFolder(file)).rejects.toMatchObject({ code: 'folder-not-a-folder' })
    await expect(readDocsFolder(join(file, 'b'))).rejects.toMatchObject({ code: 'folder-missing' })
  })

  it('says that a folder holds no Markdown', async () => {
    await expect(readDocsFolder(folderOf({}))).rejects.toMatchObject({ code: 'folder-without-documents' })
    await expect(readDocsFolder(folderOf({ 'a.txt': 'a' }))).rejects.toThrow(/^There is no Markdown in /)
  })

  it('says why, when none of the Markdown can be read', async () => {
    const reading = readDocsFolder(folderOf({ 'a.md': Uint8Array.of(0xff, 0xfe, 0x41) }))
    await expect(reading).rejects.toThrow('a.md: is not UTF-8 text')
  })

  it('leaves out and reports what is not UTF-8 or is binary, and reads the rest', async () => {
    const folder = folderOf({
      ...tea,
      'latin.md': Uint8Array.of(0x63, 0x61, 0x66, 0xe9),
      'image.md': Uint8Array.of(0x89, 0, 1),
    })
    const { documents, skipped } = await readDocsFolder(folder)
    expect(documents).toHaveLength(2)
    expect(new Map(skipped.map(({ path, reason }) => [path, reason]))).toEqual(
      new Map([
        ['latin.md', 'is not UTF-8 text'],
        ['image.md', 'is binary, not text'],
      ]),
    )
  })

  it('leaves a 50 MB file unread', async () => {
    const folder = folderOf(tea)
    const file = openSync(join(folder, 'huge.md'), 'w')
    ftruncateSync(file, 50 * 1024 * 1024)
    closeSync(file)
    const before = process.memoryUsage().external + process.memoryUsage().arrayBuffers
    expect(await skippedIn(folder)).toEqual([
      { path: 'huge.md', reason: 'is too large (50.0 MB, the limit is 2.0 MB)' },
    ])
    expect(process.memoryUsage().external + process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024)
  })

  it('does not follow links, so circles end, and reports those that mattered', async () => {
    const folder = folderOf({ ...tea, 'sub/a.md': 'a' })
    symlinkSync('..', join(folder, 'sub', 'circle'))
    symlinkSync('/etc/hostname', join(folder, 'outside.md'))
    symlinkSync('nowhere.md', join(folder, 'broken.md'))
    symlinkSync('/etc/hostname', join(folder, 'unrelated.txt'))
    const paths = (await skippedIn(folder)).map(({ path }) => path)
    expect(paths.toSorted()).toEqual(['broken.md', 'outside.md', 'sub/circle'])
  })

  it('leaves out and reports what may not be read', async () => {
    const folder = folderOf({ ...tea, 'secret.md': 's', 'closed/a.md': 'a' })
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'secret.md'), 0)
    chmodSync(join(folder, 'closed'), 0)
    const skipped = await withoutPrivileges(() => skippedIn(folder))
    expect(skipped).toHaveLength(2)
    expect(skipped).toContainEqual({ path: 'secret.md', reason: 'may not be read (permission denied)' })
    expect(skipped).toContainEqual({ path: 'closed', reason: 'may not be read (permission denied)' })
  })

  it('says that the folder itself may not be read', async () => {
    const folder = folderOf(tea)
    chmodSync(folder, 0)
    await expect(withoutPrivileges(() => readDocsFolder(folder))).rejects.toThrow(
      'may not be read (permission denied).',
    )
  })

  it('reads what is in a folder whose name ends like Markdown', async () => {
    const { documents, skipped } = await readDocsFolder(folderOf({ 'x.md/a.md': 'a' }))
    expect(documents.map(({ path }) => path)).toEqual(['x.md/a.md'])
    expect(skipped).toEqual([])
  })

  it('survives Markdown that is nested thousands of levels deep', async () => {
    const folder = folderOf({
      ...tea,
      'deep.md': `${'>'.repeat(200_000)} deep`,
      'lists.md': `${'- '.repeat(20_000)}deep`,
    })
    const { documents, skipped } = await readDocsFolder(folder)
    expect(documents.length + skipped.length).toBe(4)
  })

  it('shows the first few of what it left out and counts the rest', () => {
    const skipped = Array.from({ length: 7 }, (_, n) => ({ path: `${n}.md`, reason: 'is binary, not text' }))
    expect(describeSkipped(skipped, 2)).toBe('  0.md: is binary, not text\n  1.md: is binary, not text\n  and 5 more')
  })
})

describe('splitting a document', () => {
  const references = (source: string) =>
    parseMarkdownDocument('p.md', source).sections.map(({ reference }) => reference)

  it('gives each section the reference that GitHub gives its heading', () => {
    const source = 'Intro.\n\n# Über `code()`\n\na\n\n## Same\n\nb\n\n## Same\n\nc\n\nSetext\n---\n\nd'
    expect(references(source)).toEqual(['p.md', 'p.md#über-code', 'p.md#same', 'p.md#same-1', 'p.md#setext'])
  })

  it('does not split at what only looks like a heading', () => {
    expect(references('# One\n\n```sh\n# not\n```\n\n> # not\n\n    # not\n')).toEqual(['p.md#one'])
  })

  it('keeps the text of a section and the headings above it', () => {
    const { sections } = parseMarkdownDocument('p.md', '# A\n\n## B [link](x)\n\n### C\n\ntext *here*\n\n## D\n\nd')
    expect(sections).toEqual([
      { reference: 'p.md#c', heading: 'C', parents: ['A', 'B link'], text: 'text *here*' },
      { reference: 'p.md#d', heading: 'D', parents: ['A'], text: 'd' },
    ])
  })

  it('takes the title from the front matter, then the first top heading, then the file name', () => {
    expect(parseMarkdownDocument('a/p.md', '---\ntitle: "T: x"\n---\n# H\n\nb').title).toBe('T: x')
    expect(parseMarkdownDocument('a/p.md', '\uFEFF# H\n\nb'.slice(1)).title).toBe('H')
    expect(parseMarkdownDocument('a/p.v1.md', 'b').title).toBe('p.v1')
    expect(parseMarkdownDocument('a/p.md', '').sections).toEqual([])
  })

  it('reads Windows line ends as any other', () => {
    expect(references('---\r\ntitle: T\r\n---\r\n# A\r\n\r\na\r\n## B\r\nb')).toEqual(['p.md#a', 'p.md#b'])
  })
})
