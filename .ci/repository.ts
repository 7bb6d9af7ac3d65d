// The repository as data for its own tests: its root, its files and its packages.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly license?: string
  readonly type?: string
  readonly description?: string
  readonly sideEffects?: boolean
  readonly engines?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The text of a file, by its path from the root. */
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The manifest of a package, by the name of its folder. */
export const manifestOf = (name: string): Manifest => JSON.parse(read(`packages/${name}/package.json`)) as Manifest

/** The folders of `packages/` that are packages. */
export const packageNames: readonly string[] = readdirSync(join(root, 'packages')).filter(name =>
  existsSync(join(root, 'packages', name, 'package.json')),
)

// The patterns of .gitignore are names, paths or `*.ending`: enough for us, and right in a checkout without git as well.
const ignored = read('.gitignore')
  .split('\n')
  .filter(Boolean)
  .map(pattern => pattern.replace(/\/$/, ''))
const isIgnored = (path: string): boolean => {
  const name = basename(path)
  const matches = (entry: string) =>
    entry.startsWith('*') ? name.endsWith(entry.slice(1)) : [name, path].includes(entry)
  return name === '.git' || ignored.some(matches)
}

/** Every file that belongs to the repository, as paths from the root with `/`: all, or those below a folder. */
export const repositoryFiles = (folder = ''): readonly string[] => {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (isIgnored(path)) return []
    return entry.isDirectory() ? repositoryFiles(path) : [path]
  })
}
