import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** The files that an import loads, in a process of its own. */
const loadedBy = async (specifier: string): Promise<readonly string[]> => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import(${JSON.stringify(specifier)})
    console.log(JSON.stringify(loaded))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...conditions, '--no-warnings', '--input-type=module', '--eval', program],
    { cwd: import.meta.dirname },
  )
  return JSON.parse(stdout) as string[]
}

/** The packages of others among them. */
const packagesOf = (files: readonly string[]): readonly string[] => [
  ...new Set(files.flatMap(file => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])),
]

describe('importing the agent', () => {
  it('loads nothing of pages, adapters and third-party parts', async () => {
    const files = await loadedBy('@lockstep/agent')
    expect(
      files.filter(file => /\/ui-(?!on-demand)|\/ai-sdk-|@ai-sdk\/(react|mcp)|modelcontextprotocol/.test(file)),
    ).toEqual([])
    const [own, others] = await Promise.all([files, loadedBy('ai')].map(async list => packagesOf(await list)))
    const more = own!.filter(name => !others!.includes(name) && !name.startsWith('@lockstep/'))
    expect(more.toSorted()).toEqual(['immer'])
  })

  it.each(['@lockstep/agent/ui', '@lockstep/agent/ai-sdk'])('%s loads no client', async specifier => {
    expect(packagesOf(await loadedBy(specifier)).filter(name => /react|mcp/.test(name))).toEqual([])
  })
})
