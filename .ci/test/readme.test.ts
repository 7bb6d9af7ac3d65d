// What the documents show is true: their code fences compile, and those that say what they print, print it.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fenceModules, marker, type FenceModule } from '../fences.ts'
import { packageNames, repositoryFiles, root } from '../repository.ts'

const built = process.env['LOCKSTEP_BUILT'] === '1'
const conditions = built ? [] : ['@lockstep/source']

/** The folder whose package.json decides what the fences of a document may import. */
const homeOf = (document: string): string => /^(packages|examples)\/[^/]+/.exec(document)?.[0] ?? ''

interface Example extends FenceModule {
  readonly document: string
  readonly file: string
}

const examples: readonly Example[] = repositoryFiles()
  .filter(file => file.endsWith('.md') && basename(file) !== 'CHANGELOG.md' && !file.startsWith('.changeset/'))
  .flatMap(document =>
    fenceModules(readFileSync(join(root, document), 'utf8')).map(module => {
      const home = homeOf(document)
      const name = relative(home, document).replace(/\.md$/, '').replaceAll('/', '-')
      return { ...module, document, file: join(home, '.readme', `${name}-${module.line}.ts`) }
    }),
  )

const scratch = [...new Set(['', ...examples.map(({ document }) => homeOf(document))])].map(home =>
  join(root, home, '.readme'),
)
const clear = () => scratch.forEach(folder => rmSync(folder, { recursive: true, force: true }))

/** One compiler run over all fences. Positions are those of the documents. */
const compile = (): string => {
  const project = join(root, '.readme/tsconfig.json')
  const files = examples.map(({ file }) => join(root, file))
  const compilerOptions = { customConditions: conditions, types: ['node'] }
  writeFileSync(project, JSON.stringify({ extends: '../tsconfig.base.json', compilerOptions, files }))
  try {
    return execFileSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', project, '--pretty', 'false'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    )
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string }
    if (!stdout?.includes('error TS')) throw error
    return stdout
  }
}

let diagnostics = ''

beforeAll(() => {
  clear()
  for (const folder of scratch) mkdirSync(folder, { recursive: true })
  for (const { file, source } of examples) writeFileSync(join(root, file), source)
  diagnostics = examples.length > 0 ? compile() : ''
}, 120_000)

afterAll(clear)

const run = async ({ file, document }: Example): Promise<string> => {
  const flags = conditions.map(condition => `--conditions=${condition}`)
  const options = { cwd: join(root, dirname(document)), env: { ...process.env, NO_COLOR: '1' }, timeout: 60_000 }
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(root, file)], options)
  return stdout
}

/** The part of the output that the fence in this line printed. */
const printedBy = (line: number, output: string): string =>
  (output.split(`${marker(line)}\n`)[1] ?? '').split('\u0000fence')[0]?.trimEnd() ?? ''

describe('the documents', () => {
  it.each(packageNames)('have a README with an example for %s', name => {
    expect(examples.filter(({ document }) => document === `packages/${name}/README.md`)).not.toHaveLength(0)
  })

  it('make one compiler run without errors that belong to no document', () => {
    const own = examples.map(({ file }) => file)
    expect(
      diagnostics.split('\n').filter(line => /error TS/.test(line) && !own.some(file => line.startsWith(file))),
    ).toEqual([])
  })
})

describe.each(examples)('the example in line $line of $document', example => {
  it('compiles', () => {
    expect(diagnostics.split('\n').filter(line => line.startsWith(`${example.file}(`))).toEqual([])
  })

  if (example.expectations.length === 0) return

  it('prints what the document says', async () => {
    const output = await run(example)
    for (const { line, text } of example.expectations) expect(printedBy(line, output), `line ${line}`).toBe(text)
  })
})
