// What an import costs: which files it loads, and when the rest comes.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** The files that a program loads, in a process of its own. */
const loadedBy = async (program: string): Promise<readonly string[]> => {
  const watched = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    ${program}
    console.log(JSON.stringify(loaded))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...conditions, '--no-warnings', '--input-type=module', '--eval', watched],
    { cwd: import.meta.dirname },
  )
  return JSON.parse(stdout) as string[]
}

/** The packages among them. */
const packagesOf = (files: readonly string[]): readonly string[] =>
  [
    ...new Set(files.flatMap(file => /.*\/(?:packages|node_modules)\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])),
  ].toSorted()

const light = [
  'agent',
  'agent-loop',
  'batch-executor',
  'immer',
  'message-list',
  'processors',
  'processors-builtin',
  'zod',
]

describe('importing the agent', () => {
  it('loads nothing of the AI SDK, of pages and adapters, nor does making an agent with a route and asking it', async () => {
    const files = await loadedBy(`
      const { Agent } = await import('@lockstep/agent')
      const agent = new Agent({ name: 'a', model: 'openai/gpt-5' })
      agent.createRoute({ title: 'Book', steps: [{ id: 'city', prompt: 'Where?', collect: ['city'] }] })
      agent.stream('Hello')`)
    expect(packagesOf(files)).toEqual(light)
    expect(files.filter(file => /\/(ui-message-|ai-sdk-|execute-run|telemetry)/.test(file))).toEqual([])
  })

  it('leaves the loop and the AI SDK to the first run, and that loads nothing of pages, clients and telemetry', async () => {
    const files = await loadedBy(`
      const { Agent } = await import('@lockstep/agent')
      const { scriptedModel } = await import('@lockstep/agent-loop/testing')
      await new Agent({ name: 'a', model: scriptedModel(['Hi.']) }).generate('Hello')`)
    const packages = packagesOf(files)
    expect(packages).toEqual(expect.arrayContaining([...light, 'ai']))
    expect(packages.filter(name => /react|mcp|modelcontext|openai/.test(name))).toEqual([])
    expect(files.filter(file => /packages\/.*\/(ui-message-|ai-sdk-|telemetry[-.](?!listeners))/.test(file))).toEqual(
      [],
    )
  })

  it.each(['@lockstep/agent/ui', '@lockstep/agent/ai-sdk'])('%s loads no client', async specifier => {
    const packages = packagesOf(await loadedBy(`await import('${specifier}')`))
    expect(packages.filter(name => /react|mcp/.test(name))).toEqual([])
  })
})

it('importing the loop loads nothing but the way into it', async () => {
  expect(packagesOf(await loadedBy("await import('@lockstep/agent-loop')"))).toEqual(['agent-loop'])
})
