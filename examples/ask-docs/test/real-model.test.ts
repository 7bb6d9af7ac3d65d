import { describe, expect, it } from 'vitest'
import { run, start } from './command.ts'
import { folderOf, tea } from './folder.ts'
import { scriptedServer, type ScriptedServer } from './scripted-server.ts'

const question = 'how long does green tea steep'
const environmentFor = ({ url }: ScriptedServer) => ({
  OPENAI_BASE_URL: url,
  LOCKSTEP_MODEL: 'scripted',
  OPENAI_API_KEY: 'test-key',
})
const search = {
  calls: [
    { name: 'searchDocs', input: { query: 'steep' } },
    { name: 'listDocuments', input: {} },
  ],
}
const read = { calls: [{ name: 'readSection', input: { reference: 'brewing.md#time' } }] }

describe('the same command over HTTP to an OpenAI-compatible server', () => {
  it('runs the tools, retries an answer without citation with the feedback, and shows the accepted one', async () => {
    const server = await scriptedServer([
      search,
      read,
      { text: 'Two minutes.' },
      { text: 'Two minutes [brewing.md#time].' },
    ])
    const { code, stdout, stderr } = await run(['--docs', folderOf(tea), question], environmentFor(server))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('\nTwo minutes [brewing.md#time].\n\nSources\n  brewing.md#time\n')
    expect(stdout).not.toContain('\nTwo minutes.')
    expect(stdout).toContain(`Model: scripted at ${server.url}`)
    const [first, , third, fourth] = server.asked
    expect(first?.authorization).toBe('Bearer test-key')
    expect(first?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(first?.messages[1]?.content).toBe('How long does green tea steep?')
    expect(third?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'tool',
    ])
    expect(JSON.stringify(third?.messages.at(-1)?.content)).toContain('Let green tea steep for two minutes.')
    expect(third?.tool_choice).toBe('none')
    const system = fourth?.messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    expect(system?.join('\n')).toContain('Cite your sources: name a section that you read, as in [brewing.md#time].')
    expect(JSON.stringify(fourth?.messages)).not.toContain('Two minutes.')
  })

  it('withholds an answer that is never cited, and says who did', async () => {
    const server = await scriptedServer([search, read, { text: 'Two.' }, { text: 'Two.' }, { text: 'Two.' }])
    const { stdout } = await run(['--docs', folderOf(tea), question], environmentFor(server))
    expect(server.asked).toHaveLength(5)
    expect(stdout).toContain('The answer was withheld by citation-guard: Cite your sources')
    expect(stdout).not.toContain('Two.')
    expect(stdout).toContain('run: tripwire')
  })

  it('never prints a secret that the server says in pieces', async () => {
    const secret = `ghp_${'x9Y8'.repeat(10)}`
    const server = await scriptedServer([{ text: `The token is ${secret}, keep it.` }])
    const { stdout } = await run(['--docs', folderOf(tea), question], environmentFor(server))
    expect(stdout).toContain('The token is [redacted github-token], keep it.')
    expect(stdout).not.toContain('ghp_')
  })

  it('says that the key was refused and what to check', async () => {
    const server = await scriptedServer([{ status: 401, message: 'Incorrect API key provided' }])
    const { code, stdout, stderr } = await run(['--docs', folderOf(tea), question], environmentFor(server))
    expect(code).toBe(1)
    expect(stderr).toBe(
      `scripted at ${server.url} refused the key (401): Incorrect API key provided. ` +
        'Check that the key in OPENAI_API_KEY or ANTHROPIC_API_KEY is right and may use this model.\n',
    )
    expect(stdout).not.toMatch(/^\s+at /m)
    expect(server.asked).toHaveLength(1)
  })

  it('says that the model is not there', async () => {
    const server = await scriptedServer([{ status: 404, message: 'model not found' }])
    const { code, stderr } = await run(['--docs', folderOf(tea), question], environmentFor(server))
    expect(code).toBe(1)
    expect(stderr).toContain('answered with an error (404): model not found. Check the name of the model')
  })

  it('says that nobody answers at the address', async () => {
    const environment = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', LOCKSTEP_MODEL: 'm' }
    const { code, stderr } = await run(['--docs', folderOf(tea), question], environment)
    expect(code).toBe(1)
    expect(stderr).toContain('m at http://127.0.0.1:9/v1 cannot be reached')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it('stops in the middle of an answer on Ctrl-C, hangs up, and says so', async () => {
    const server = await scriptedServer([search, read, { hangAfter: 'Two minutes and then' }])
    const { process: child, finished } = start(['--docs', folderOf(tea), question], environmentFor(server))
    await server.hanging
    child.kill('SIGINT')
    await server.left
    expect(await finished).toMatchObject({ code: 130, stderr: '\nStopped.\n' })
  })
})
