// The page, built by Vite into memory: nothing is written to disk.
import { join } from 'node:path'
import { build } from 'vite'

export interface PageFile {
  readonly type: string
  readonly content: string | Uint8Array
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** Builds the page. The paths are those that a browser asks for. */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const built = await build({
    root: join(import.meta.dirname, 'page'),
    configFile: false,
    logLevel: 'error',
    build: { write: false, modulePreload: false },
  })
  const files = new Map<string, PageFile>()
  for (const result of [built].flat())
    for (const file of 'output' in result ? result.output : []) {
      const type = types[file.fileName.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
      files.set(`/${file.fileName}`, { type, content: file.type === 'chunk' ? file.code : file.source })
    }
  return files
}
