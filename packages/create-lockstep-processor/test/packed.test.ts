// From the packed packages to a new one that passes its own tests, as a user gets there. It needs built packages.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const packages = fileURLToPath(new URL('../..', import.meta.url))
const limit = { timeout: 180_000 }

// The environment of a user: nothing of this test run, and of the npm that started it.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_(ENV|OPTIONS)|npm_(?!config)|LOCKSTEP_)/.test(name)),
)
const quiet = {
  ...env,
  NO_COLOR: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

/** Runs a command to its end. Throws with all that it said. */
async function run(folder: string, command: string, ...args: readonly string[]): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd: folder, env: quiet, maxBuffer: 1e8 })
  const { stdout } = await running.catch((error: unknown) => {
    const { stdout: out, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${out}\n${stderr}`, { cause: error })
  })
  return stdout
}

/** A package of this repository and those that it needs to run, by their folders. */
async function withNeeds(name: string): Promise<readonly string[]> {
  const manifest = await readFile(join(packages, name, 'package.json'), 'utf8')
  const { dependencies = {} } = JSON.parse(manifest) as { readonly dependencies?: Readonly<Record<string, string>> }
  const own = Object.keys(dependencies).flatMap(other => (/^@lockstep\/(.*)$/.exec(other) ?? []).slice(1))
  return [...new Set([name, ...(await Promise.all(own.map(withNeeds))).flat()])]
}

describe.runIf(process.env['LOCKSTEP_BUILT'] === '1')('a package made by the packed command', () => {
  let home = ''
  const tarballs = async (folder: string) => (await readdir(join(home, folder))).map(file => join(home, folder, file))
  const inGuard = () => join(home, 'my-guard')

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'lockstep-packed-'))
    const pnpm = join(packages, '../node_modules/.bin/pnpm')
    const pack = (name: string, folder: string) =>
      run(join(packages, name), pnpm, 'pack', '--pack-destination', join(home, folder))
    await pack('create-lockstep-processor', 'tool')
    for (const name of await withNeeds('testing')) await pack(name, 'needs')
    await run(home, 'npm', 'install', '--prefix', join(home, 'command'), ...(await tarballs('tool')))
    await run(home, join(home, 'command/node_modules/.bin/create-lockstep-processor'), 'my-guard')
    await run(inGuard(), 'npm', 'install', '--save-dev', '--prefer-offline', ...(await tarballs('needs')))
  }, limit.timeout)

  afterAll(() => rm(home, { recursive: true, force: true }))

  it('passes its own tests, every law among them, and skips only what is not about it', limit, async () => {
    const report = join(home, 'report.json')
    await run(inGuard(), 'npm', 'test', '--', '--reporter', 'json', '--outputFile', report)
    const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
      readonly testResults: readonly {
        readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
      }[]
    }
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(tests.filter(({ status }) => status === 'passed').map(({ title }) => title.split(':')[0])).toEqual(
      expect.arrayContaining(['acts', 'any-cut', 'tail-at-finish', 'tail-at-abort', 'runs-apart', 'json-state']),
    )
    expect(tests.filter(({ status }) => status !== 'passed').map(({ title }) => title.split(':')[0])).toEqual([
      'declared-errors',
    ])
  })

  it('has a test that notices when the processor is wrong', limit, async () => {
    const path = join(inGuard(), 'src/my-guard.ts')
    const source = await readFile(path, 'utf8')
    await writeFile(path, source.replace('flush({', 'letGo({'))
    await expect(run(inGuard(), 'npm', 'test')).rejects.toThrow('tail-at-finish')
    await writeFile(path, source)
  })

  it('packs what users need, and that works', limit, async () => {
    await run(inGuard(), 'npm', 'run', 'prepack')
    const out = await run(inGuard(), 'npm', 'pack', '--json', '--ignore-scripts')
    const [{ files }] = JSON.parse(out) as [{ files: readonly { path: string }[] }]
    expect(files.map(({ path }) => path).toSorted()).toEqual([
      'README.md',
      'dist/my-guard.d.ts',
      'dist/my-guard.js',
      'package.json',
    ])
    const script = "import { myGuard } from 'my-guard'; console.log(myGuard({ words: ['x'] }).id)"
    expect(await run(inGuard(), process.execPath, '--input-type=module', '-e', script)).toBe('my-guard\n')
  })
})

describe.runIf(process.env['LOCKSTEP_BUILT'] === '1')('the packed command', () => {
  const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
  const failing = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [cli, ...args], { cwd: tmpdir(), env }).catch((error: unknown) => error)

  it('says in a sentence what is wrong, and ends with 1', async () => {
    expect(await failing('My Guard')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^"My Guard" is no name .*: my-guard\.\n$/),
    })
    expect(await failing('one', 'two')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There are 2 folders/),
    })
    expect(await failing('--nam', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Unknown option '--nam'/),
    })
    expect(await failing('.')).toMatchObject({ code: 1, stderr: expect.stringMatching(/\n$/) })
  })

  it('reads options after two dashes, which pnpm hands on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dashes-'))
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'guard', '--', '--name', '@acme/guard'], {
      cwd: folder,
      env,
    })
    expect(stdout).toMatch(/^@acme\/guard is written/)
    await rm(folder, { recursive: true })
  })

  it('shows how it is used', async () => {
    expect(await failing('--help')).toMatchObject({ stdout: expect.stringMatching(/^npm create lockstep-processor/) })
  })
})
