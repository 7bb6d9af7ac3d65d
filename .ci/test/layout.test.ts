// Where things are. Whoever knows one package finds their way in all of them, and in the repository.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { importsOf } from '../imports.ts'
import { manifestOf, packageNames, read, repositoryFiles, root } from '../repository.ts'

const topLevel = new Set(
  `.changeset .ci .gitattributes .gitignore .oxfmtrc.json .oxlintrc.json ARCHITECTURE.md CONTRIBUTING.md LICENSE README.md
  bench docs examples knip.json package.json packages pnpm-lock.yaml pnpm-workspace.yaml tsconfig.base.json
  tsup.preset.ts turbo.json vitest.config.ts`.split(/\s+/),
)

const inPackage = new Set(
  'CHANGELOG.md README.md package.json src test tsconfig.build.json tsconfig.json tsup.config.ts'.split(' '),
)

/** Names that say nothing about what a file is for. */
const nameless = /^(utils?|helpers?|common|types?|internals?|shared|misc)(\.|$)/

const files = repositoryFiles()
const firstNames = (folder: string) =>
  new Set(files.flatMap(file => (file.startsWith(folder) ? [file.slice(folder.length).split('/')[0] ?? ''] : [])))

/** The relative links of a Markdown document that lead nowhere. */
const deadLinks = (document: string): readonly string[] =>
  [
    ...read(document)
      .replaceAll(/^\s*```[^]*?^\s*```/gm, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, link = '']) => decodeURIComponent(link.split('#')[0] ?? ''))
    .filter(link => link && !/^[a-z]+:/.test(link) && !existsSync(join(root, document, '..', link)))

describe('the repository', () => {
  it('has nothing at its top level but what the map shows', () => {
    expect([...firstNames('')].filter(name => !topLevel.has(name))).toEqual([])
  })

  it.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'LICENSE'])('has %s', file => {
    expect(files).toContain(file)
  })

  it('stands alone: no file points outside of it', () => {
    const outside = /(\.\.\/)+shared\b|\/work\/(main|shared)\b/
    const texts = files.filter(
      file => /\.(md|ts|mjs|json|yaml|js|html|css)$|\/run$/.test(file) && file !== '.ci/test/layout.test.ts',
    )
    expect(texts.filter(file => outside.test(read(file)))).toEqual([])
  })

  it.each(files.filter(file => file.endsWith('.md')))('has no dead link in %s', document => {
    expect(deadLinks(document)).toEqual([])
  })

  it('has no file with a name that says nothing', () => {
    const code = files.filter(file => /^(packages|examples|bench)\//.test(file))
    expect(code.filter(file => file.split('/').some(part => nameless.test(part)))).toEqual([])
  })
})

interface Condition {
  readonly '@lockstep/source': string
  readonly types: string
  readonly default: string
}

describe.each(packageNames)('%s', name => {
  const folder = `packages/${name}`
  const manifest = manifestOf(name)
  const sources = repositoryFiles(`${folder}/src`)
  const entries = Object.entries(manifest.exports ?? {}).filter(([path]) => path !== './package.json')

  it('has the files of a package and no others', () => {
    const present = firstNames(`${folder}/`)
    expect([...present].filter(file => !inPackage.has(file))).toEqual([])
    expect([...inPackage].filter(file => file !== 'CHANGELOG.md' && !present.has(file))).toEqual([])
    expect(sources).toContain(`${folder}/src/index.ts`)
  })

  it('has a manifest like the others', () => {
    expect(manifest).toMatchObject({
      name: name.startsWith('create-') ? name : `@lockstep/${name}`,
      description: expect.stringMatching(/\.$/),
      license: 'MIT',
      repository: { directory: folder },
      type: 'module',
      sideEffects: false,
      engines: { node: '>=22' },
      files: ['dist'],
    })
  })

  it('exports each entry as source, types and code, in this order', () => {
    expect(manifest.exports).toHaveProperty(['./package.json'], './package.json')
    expect(entries.map(([path]) => path)).toContain('.')
    for (const [path, target] of entries) {
      expect(Object.keys(target as Condition), path).toEqual(['@lockstep/source', 'types', 'default'])
      const source = (target as Condition)['@lockstep/source']
      const built = source.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1')
      expect(target, path).toMatchObject({ types: `${built}.d.ts`, default: `${built}.js` })
      expect(source.includes('*') || existsSync(join(root, folder, source)), `${source} is missing`).toBe(true)
    }
  })

  it('builds with the shared preset, in three lines', () => {
    const lines = read(`${folder}/tsup.config.ts`).trimEnd().split('\n')
    expect(lines.slice(0, 2)).toEqual(["import { preset } from '../../tsup.preset.ts'", ''])
    expect(lines.slice(2)).toEqual(['export default preset()'])
  })

  it('opens each source file with a line on what lives there', () => {
    expect(sources.filter(file => !/^(#!.*\n)?(\/\/ |\/\*\*? )/.test(read(file)))).toEqual([])
  })

  it('names its public things one by one in the index', () => {
    const { program } = parseSync('index.ts', read(`${folder}/src/index.ts`))
    expect(program.body.filter(node => node.type !== 'ExportNamedDeclaration' || !node.source)).toEqual([])
  })

  it('is tested through what it exports', () => {
    const tests = repositoryFiles(`${folder}/test`)
    const reachesIn = (file: string) => importsOf(file).some(({ specifier }) => /^\.\.\/.*src\//.test(specifier))
    expect(tests.filter(file => file.endsWith('.ts') && reachesIn(file))).toEqual([])
    expect(tests.some(file => file.endsWith('.test.ts'))).toBe(true)
  })
})

describe('the examples', () => {
  const examples = existsSync(join(root, 'examples')) ? readdirSync(join(root, 'examples')) : []

  it('are private packages with a README', () => {
    for (const name of examples) {
      expect(JSON.parse(read(`examples/${name}/package.json`)), name).toMatchObject({ private: true, license: 'MIT' })
      expect(files).toContain(`examples/${name}/README.md`)
    }
  })
})
