// Who may import whom. The table is the architecture; the manifests and the sources follow it.
import { describe, expect, it } from 'vitest'
import { importsOf, packageOf } from '../imports.ts'
import { manifestOf, packageNames, read, repositoryFiles } from '../repository.ts'

/** The packages from the bottom up, each with those that it may import. */
const architecture: Readonly<Record<string, readonly string[]>> = {
  'message-list': [],
  processors: ['message-list'],
  'agent-loop': ['processors', 'message-list'],
  'batch-executor': ['agent-loop', 'processors', 'message-list'],
  'processors-builtin': ['processors', 'message-list'],
  memory: ['processors', 'message-list'],
  testing: ['agent-loop', 'processors', 'message-list'],
  'create-lockstep-processor': [],
  agent: ['processors-builtin', 'batch-executor', 'agent-loop', 'processors', 'message-list'],
}

/** Small libraries that a package carries within its built files, so that nobody has to install them. */
const carried: Readonly<Record<string, readonly string[]>> = {
  'processors-builtin': ['minisearch', 'unhomoglyph'],
}

const scope = '@lockstep/'
const sourcesOf = (name: string) => repositoryFiles(`packages/${name}/src`).filter(file => file.endsWith('.ts'))
const own = (names: Iterable<string>) =>
  [...names].flatMap(name => (name.startsWith(scope) ? name.slice(scope.length) : []))
const keys = (record: object | undefined) => Object.keys(record ?? {})

const importsIn = (name: string) =>
  sourcesOf(name).flatMap(file => importsOf(file).map(found => ({ ...found, file, from: packageOf(found.specifier) })))
const inWords = (found: readonly { readonly file: string; readonly specifier: string }[]) =>
  found.map(({ file, specifier }) => `${file} imports ${specifier}`)

/** The packages of this repository that a package needs, for its tests too. */
const needsOf = (name: string): readonly string[] => {
  const { dependencies, peerDependencies, devDependencies } = manifestOf(name)
  return own(keys({ ...dependencies, ...peerDependencies, ...devDependencies }))
}

const cycleThrough = (name: string, path: readonly string[] = []): readonly string[] | undefined => {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
  if (!packageNames.includes(name)) return undefined
  return needsOf(name)
    .map(next => cycleThrough(next, [...path, name]))
    .find(Boolean)
}

describe('the packages', () => {
  it('are all in the table', () => {
    expect(packageNames.filter(name => !(name in architecture))).toEqual([])
  })

  it('depend on each other without a cycle, development dependencies included', () => {
    expect(packageNames.map(name => cycleThrough(name)).filter(Boolean)).toEqual([])
  })

  it('import immer in one file', () => {
    const importers = packageNames
      .flatMap(sourcesOf)
      .filter(file => importsOf(file).some(({ specifier }) => packageOf(specifier) === 'immer'))
    expect(importers.length, importers.join(', ')).toBeLessThanOrEqual(1)
  })
})

describe.each(packageNames)('%s', name => {
  const manifest = manifestOf(name)
  const allowed = architecture[name] ?? []
  const imports = importsIn(name)

  it('depends only on packages below it', () => {
    expect(
      own(keys({ ...manifest.dependencies, ...manifest.peerDependencies })).filter(other => !allowed.includes(other)),
    ).toEqual([])
  })

  it('imports only packages below it', () => {
    const wrong = imports.filter(({ from }) =>
      own([from ?? '']).some(other => other !== name && !allowed.includes(other)),
    )
    expect(inWords(wrong)).toEqual([])
  })

  it('imports only what it declares', () => {
    const within = carried[name] ?? []
    const declared = [...keys(manifest.dependencies), ...keys(manifest.peerDependencies), manifest.name, ...within]
    expect(inWords(imports.filter(({ from }) => from !== undefined && !declared.includes(from)))).toEqual([])
  })

  it('names the authors of what it carries', () => {
    for (const library of carried[name] ?? []) {
      expect(keys(manifest.devDependencies)).toContain(library)
      expect(read(`packages/${name}/README.md`)).toMatch(new RegExp(`\\[${library}\\].*©`))
    }
  })

  it('reaches no other package through its files', () => {
    const depthOf = (file: string) => file.split('/').length - 4
    const leaves = imports.filter(({ file, specifier }) => specifier.startsWith('../'.repeat(depthOf(file) + 1)))
    expect(inWords(leaves)).toEqual([])
  })

  it('takes the AI SDK and zod from its user', () => {
    expect(keys(manifest.dependencies).filter(dependency => dependency === 'ai' || dependency === 'zod')).toEqual([])
  })

  it('names the other packages of this repository by workspace, in every kind of dependency', () => {
    const ranges = Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.peerDependencies,
    })
    expect(
      ranges.filter(([dependency, range]) => dependency.startsWith(scope) && !range.startsWith('workspace:')),
    ).toEqual([])
  })

  it('takes what the AI SDK may change from it in one file', () => {
    const unstable = imports.filter(
      ({ specifier, names }) => specifier === 'ai/internal' || names.some(given => given.startsWith('experimental_')),
    )
    const seams = [...new Set(unstable.map(({ file }) => file))]
    expect(seams.length, seams.join(', ')).toBeLessThanOrEqual(1)
  })
})

describe('message-list', () => {
  it('has nothing at run time but immer and zod', () => {
    const atRunTime = importsIn('message-list').filter(({ typeOnly, from }) => !typeOnly && from !== undefined)
    expect(inWords(atRunTime.filter(({ from }) => from !== 'immer' && from !== 'zod'))).toEqual([])
  })
})
