// Writes the package of a processor into a folder that is not there, or has nothing in it.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CreateError } from './errors.ts'
import { packageFiles } from './package-template.ts'
import { processorName } from './processor-name.ts'
import { processorFiles } from './processor-template.ts'

/** Where the package goes, and what it is called. */
export interface PackageOptions {
  /** A path; its last part is the name of the package, unless `name` says another. */
  readonly folder: string
  /** With a scope or without. */
  readonly name?: string
}

/** A package that was written. */
export interface CreatedPackage {
  readonly name: string
  /** The absolute path. */
  readonly folder: string
  /** Paths within the folder, sorted. */
  readonly files: readonly string[]
}

/**
 * Writes a package that passes its own tests as it is.
 *
 * *Throws*: `bad-name`, `folder-in-use`, `not-a-folder`. Nothing has been written then.
 */
export async function createProcessorPackage(options: PackageOptions): Promise<CreatedPackage> {
  const folder = resolve(options.folder)
  const name = processorName(options.name ?? basename(folder))
  await checkEmpty(folder)
  const files = { ...packageFiles(name), ...processorFiles(name) }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    // Whoever was faster keeps what they wrote.
    await writeFile(join(folder, path), content, { flag: 'wx' })
  }
  return { name: name.packageName, folder, files: Object.keys(files).toSorted() }
}

async function checkEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR')
      throw new CreateError('not-a-folder', `${folder} is a file, or is in one. Give the path of a folder.`)
    throw error
  })
  // What git and a Mac put into a folder that is otherwise empty.
  const found = entries.filter(entry => entry !== '.git' && entry !== '.DS_Store')
  if (found.length > 0)
    throw new CreateError(
      'folder-in-use',
      `The folder ${folder} has ${found.slice(0, 3).join(', ')}${found.length > 3 ? ` and ${found.length - 3} more` : ''} in it. Give a path where nothing is yet.`,
    )
}
