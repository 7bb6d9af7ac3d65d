import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run, start } from './command.ts'
import { boats, folderOf, tea } from './folder.ts'

const question = 'how  long does green tea steep'

describe('the command', () => {
  it('answers with citations, names its sources, and prints the trace of every step and processor', async () => {
    const { code, stdout, stderr } = await run(['--docs', folderOf(tea), question])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Let green tea steep for two minutes. [brewing.md#time]')
    expect(stdout).toMatch(/\nSources\n(  .*\n)*  brewing\.md#time\n/)
    const trace = stdout.slice(stdout.indexOf('\nTrace\n'))
    expect(trace).toContain('question-tidier.processInput: changed messages')
    expect(trace).toContain('tool searchDocs({"query":"green tea steep"')
    expect(trace).toContain('tool readSection({"reference":"brewing.md#time"}): result')
    expect(trace).toContain('answer-after.processInputStep: changed toolChoice')
    expect(trace).toContain('citation-guard.processOutputStep: asked for a retry: "Cite your sources')
    expect(trace.indexOf('retried')).toBeLessThan(trace.lastIndexOf('accepted'))
  })

  it('shows no draft that the guard withdrew when nothing can be taken back', async () => {
    const { stdout } = await run(['--docs', folderOf(tea), question])
    expect(stdout.split('Let green tea steep for two minutes.')).toHaveLength(2)
  })

  it('asks other things and cites other sections over another folder', async () => {
    const { stdout } = await run(['--docs', folderOf(boats), 'what is a bowline loop'])
    expect(stdout).toContain('A bowline makes a loop that does not slip.')
    expect(stdout).toContain('tool readSection({"reference":"knots.md#bowline"}): result')
    expect(stdout).not.toContain('brewing.md')
  })

  it('keeps a secret of the documents to itself', async () => {
    const key = `sk-proj-${'a1B2'.repeat(10)}`
    const folder = folderOf({ 'keys.md': `# Deploying\n\nThe deploy key of the server is ${key} for now.` })
    const { stdout } = await run(['--docs', folder, 'what is the deploy key of the server'])
    expect(stdout).toContain('The deploy key of the server is [redacted openai-key] for now.')
    expect(stdout).not.toContain(key.slice(0, 12))
  })

  it('explains itself', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('--docs DIR')
  })
})

describe('bad input', () => {
  const failing = async (args: readonly string[], environment?: Readonly<Record<string, string>>) => {
    const { code, stdout, stderr } = await run(args, environment)
    expect(code).toBe(1)
    expect(stdout + stderr).not.toMatch(/^\s+at /m)
    return stderr
  }

  it('says which folder is missing', async () => {
    expect(await failing(['--docs', '/no/such', question])).toBe(
      'There is no folder "/no/such". Check the path given with --docs.\n',
    )
  })

  it('says that a folder is empty', async () => {
    expect(await failing(['--docs', folderOf({}), question])).toMatch(/^There is no Markdown in ".*"\. Give a folder/)
  })

  it('says what it does not understand', async () => {
    expect(await failing(['--dosc', 'x'])).toContain("Unknown option '--dosc'")
  })

  it('says which model name it does not know', async () => {
    expect(await failing(['--docs', folderOf(tea), question], { LOCKSTEP_MODEL: 'gpt' })).toContain(
      'names no known provider',
    )
  })

  it('says which key is missing', async () => {
    const environment = { LOCKSTEP_MODEL: 'anthropic/claude' }
    expect(await failing(['--docs', folderOf(tea), question], environment)).toContain('ANTHROPIC_API_KEY is not set')
  })

  it('answers from the rest when a file is not UTF-8 and another has 50 MB, and reports both', async () => {
    const folder = folderOf({ ...tea, 'latin.md': Uint8Array.of(0x63, 0x61, 0x66, 0xe9) })
    writeFileSync(join(folder, 'huge.md'), '')
    truncateSync(join(folder, 'huge.md'), 50 * 1024 * 1024)
    const { code, stdout, stderr } = await run(['--docs', folder, question])
    expect(code).toBe(0)
    expect(stdout).toContain('[brewing.md#time]')
    expect(stderr).toContain('latin.md: is not UTF-8 text')
    expect(stderr).toContain('huge.md: is too large (50.0 MB, the limit is 2.0 MB)')
  })

  it('says plainly that nothing matches', async () => {
    const { code, stdout } = await run(['--docs', folderOf(tea), 'who invented the helicopter'])
    expect(code).toBe(0)
    expect(stdout).toContain(
      'I found nothing about “invented”, “helicopter” in the documents. The nearest are:\n\n- brewing.md',
    )
  })

  it('is quiet when its reader goes away', async () => {
    const { process: child, finished } = start(['--docs', folderOf(tea), question])
    child.stdout?.once('data', () => child.stdout?.destroy())
    expect(await finished).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a chat', () => {
  it('keeps the conversation over turns and ends with an empty line', async () => {
    const { process: child, finished } = start(['--docs', folderOf({ ...tea, ...boats }), '--chat'])
    child.stdin?.write('how do I reef a sail\nand does it heel less?\nwhat is a bowline\n\nnever asked\n')
    const { code, stdout, stderr } = await finished
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('tool searchDocs({"query":"reef sail heel less"')
    expect(stdout).toContain('tool searchDocs({"query":"bowline"')
    expect(stdout.match(/^Trace$/gm)).toHaveLength(3)
    expect(stdout).not.toContain('never asked')
  })

  it('ends when its input does, after the question it was started with', async () => {
    const { process: child, finished } = start(['--docs', folderOf(tea), '--chat', question])
    child.stdin?.end()
    const { code, stdout } = await finished
    expect(code).toBe(0)
    expect(stdout.match(/^Trace$/gm)).toHaveLength(1)
  })

  it('stops at the prompt', async () => {
    const { process: child, finished } = start(['--docs', folderOf(tea), '--chat'])
    child.stdout?.on('data', data => String(data).includes('You: ') && child.kill('SIGINT'))
    expect(await finished).toMatchObject({ code: 130, stderr: '\nStopped.\n' })
  })
})
