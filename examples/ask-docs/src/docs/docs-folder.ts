// Reads a folder of Markdown, file by file. What cannot be read is left out and reported, never fatal; a folder that gives nothing is an error.
import type { Dirent } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { AskDocsError } from '../errors.ts'
import { parseMarkdownDocument, type MarkdownDocument } from './markdown-document.ts'

export type SkippedPath = { readonly path: string; readonly reason: string }

export type DocsFolder = {
  readonly folder: string
  /** Sorted by path, so that the same folder reads the same on every machine. */
  readonly documents: readonly MarkdownDocument[]
  readonly skipped: readonly SkippedPath[]
}

type PassOver = (path: string) => boolean

const markdownEnding = /\.(md|mdx|markdown)$/i
const sizeLimit = 2 * 1024 * 1024

/**
 * Reads every Markdown file under a folder. Hidden folders and `node_modules` are passed over, and so is every path
 * (relative to the folder) that `passOver` says yes to. Links are not followed.
 *
 * *Cost:* one file in memory at a time besides the text that is kept; a file over 2 MB is not opened.
 * *Throws* `AskDocsError` when the folder is missing, is no folder, cannot be read, or holds no readable Markdown.
 */
export async function readDocsFolder(folder: string, passOver: PassOver = () => false): Promise<DocsFolder> {
  const root = await openFolder(folder)
  const documents: MarkdownDocument[] = []
  const skipped: SkippedPath[] = []
  for await (const found of markdownFilesIn(root, passOver)) {
    const result = 'reason' in found ? found : await readDocument(root, found.path)
    if ('reason' in result) skipped.push(result)
    else documents.push(result)
  }
  if (documents.length === 0) throw noDocuments(folder, skipped)
  documents.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { folder, documents, skipped }
}

/** Says what was left out and why, a line for each of the first few. */
export function describeSkipped(skipped: readonly SkippedPath[], shown = 5): string {
  const lines = skipped.slice(0, shown).map(({ path, reason }) => `  ${path}: ${reason}`)
  if (skipped.length > shown) lines.push(`  and ${skipped.length - shown} more`)
  return lines.join('\n')
}

async function openFolder(folder: string): Promise<string> {
  try {
    const root = await realpath(resolve(folder))
    if (!(await stat(root)).isDirectory()) {
      throw new AskDocsError('folder-not-a-folder', `"${folder}" is a file. Give the folder that holds it: --docs DIR.`)
    }
    await readdir(root)
    return root
  } catch (error) {
    if (AskDocsError.isInstance(error)) throw error
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) {
      throw new AskDocsError(
        'folder-missing',
        `There is no folder "${folder}". Check the path given with --docs.`,
        error,
      )
    }
    throw new AskDocsError('folder-unreadable', `The folder "${folder}" ${reasonOf(error)}.`, error)
  }
}

function noDocuments(folder: string, skipped: readonly SkippedPath[]): AskDocsError {
  const cure = 'Give a folder that holds .md, .mdx or .markdown files: --docs DIR.'
  if (skipped.length === 0)
    return new AskDocsError('folder-without-documents', `There is no Markdown in "${folder}". ${cure}`)
  const found = `None of the Markdown in "${folder}" can be read:\n${describeSkipped(skipped)}\n${cure}`
  return new AskDocsError('folder-without-documents', found)
}

async function* markdownFilesIn(root: string, passOver: PassOver): AsyncGenerator<{ path: string } | SkippedPath> {
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    let entries: readonly Dirent[]
    try {
      entries = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      yield { path: pathIn(root, folder), reason: reasonOf(error) }
      continue
    }
    for (const entry of entries) {
      const location = join(folder, entry.name)
      const path = pathIn(root, location)
      if (entry.name.startsWith('.') || entry.name === 'node_modules' || passOver(path)) continue
      if (entry.isDirectory()) waiting.push(location)
      else if (entry.isSymbolicLink()) yield* linkAt(location, path)
      else if (entry.isFile() && markdownEnding.test(entry.name)) yield { path }
    }
  }
}

/** Links could lead in circles or out of the folder, so they are not followed; one that would have mattered is reported. */
async function* linkAt(location: string, path: string): AsyncGenerator<SkippedPath> {
  const target = await stat(location).catch(() => undefined)
  if (markdownEnding.test(path) || target?.isDirectory())
    yield { path, reason: 'is a link, and links are not followed' }
}

async function readDocument(root: string, path: string): Promise<MarkdownDocument | SkippedPath> {
  const location = join(root, path)
  try {
    const { size } = await stat(location)
    if (size > sizeLimit)
      return { path, reason: `is too large (${megabytes(size)}, the limit is ${megabytes(sizeLimit)})` }
    const bytes = await readFile(location)
    if (bytes.includes(0)) return { path, reason: 'is binary, not text' }
    return parseMarkdownDocument(path, new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return { path, reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read (permission denied)'
  if (error instanceof RangeError) return 'is nested too deeply to be parsed'
  return error instanceof Error ? error.message : String(error)
}

function pathIn(root: string, location: string): string {
  return relative(root, location).split(sep).join('/')
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
