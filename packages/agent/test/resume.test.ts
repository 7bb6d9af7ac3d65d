import { Agent, LoopError, type LoopState } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tool } from 'ai'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-resume-'))
afterAll(() => rmSync(folder, { recursive: true }))

const agentOf = (turns: Parameters<typeof scriptedModel>[0], ran: string[] = []) =>
  new Agent({
    name: 'cashier',
    instructions: 'Be exact.',
    model: scriptedModel(turns),
    tools: {
      pay: tool({
        inputSchema: z.object({ euros: z.number() }),
        needsApproval: true,
        execute: ({ euros }) => (ran.push(`pay ${euros}`), 'paid'),
      }),
    },
    defaultOptions: { structuredOutput: { schema: z.object({ done: z.boolean() }) } },
  })

const callPay = { toolCalls: [{ toolName: 'pay', input: { euros: 5 } }] }

describe('agent.resume', () => {
  it('says that decisions are a list', async () => {
    const agent = agentOf([callPay])
    const asked = await agent.generate('Pay 5.')
    const resumed = agent.resume(asked.loopState!, { approved: true } as never)
    await expect(resumed.text).rejects.toThrow('decisions is an object with the keys ["approved"]. Give an array')
  })

  it('goes on with a run that waits for a person', async () => {
    const ran: string[] = []
    const agent = agentOf([callPay, '{"done":true}'], ran)
    const asked = await agent.generate('Pay 5.')
    expect(asked).toMatchObject({ stopReason: 'suspended', object: undefined })
    const [pending] = asked.pendingApprovals
    const stream = agent.resume(asked.loopState!, [{ approvalId: pending!.approvalId, approved: true }])
    expect(await stream.object).toEqual({ done: true })
    expect(await stream.stopReason).toBe('completed')
    expect(ran).toEqual(['pay 5'])
    const result = await stream.result
    expect(result.runId).toBe(asked.runId)
    expect(result.messageList.getAllSystemMessages().map(({ content }) => content)).toEqual(['Be exact.'])
  })

  it('rejects every promise for a state that cannot be used, and nothing runs', async () => {
    const ran: string[] = []
    const agent = agentOf([callPay], ran)
    const { loopState } = await agent.generate('Pay 5.')
    const stream = agent.resume(loopState!, [{ approvalId: 'forged', approved: true }])
    await expect(stream.text).rejects.toSatisfy(error => LoopError.isInstance(error))
    await expect(stream.result).rejects.toMatchObject({ code: 'unknown-approval' })
    expect(ran).toEqual([])
  })

  it('goes on in another process from a file, after the first was killed', async () => {
    const file = join(folder, 'state.json')
    const first = spawn(process.execPath, [...process.execArgv, ...conditions, script, file], { stdio: 'pipe' })
    const said = await new Promise<string>((resolve, reject) => {
      let text = ''
      let errors = ''
      first.stderr.on('data', data => (errors += String(data)))
      first.stdout.on('data', data => {
        text += String(data)
        if (text.includes('\n')) resolve(text.trim())
      })
      first.on('exit', () => reject(new Error(errors)))
    })
    expect(said).toBe('suspended: pay')
    first.removeAllListeners('exit')
    const gone = new Promise(resolve => first.on('exit', resolve))
    first.kill('SIGKILL')
    await gone
    const ran: string[] = []
    const state = JSON.parse(readFileSync(file, 'utf8')) as LoopState
    const approvalId = state.open!.calls[0]!.approvalId
    const end = await agentOf(['{"done":true}'], ran).resume(state, [{ approvalId, approved: true }]).result
    expect(end).toMatchObject({ stopReason: 'completed', object: { done: true } })
    expect(ran).toEqual(['pay 5'])
  })
})

const script = join(import.meta.dirname, 'suspended-process.ts')
const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

describe('a stream', () => {
  it('can be spoken to while it goes, and says what became of it', async () => {
    const agent = new Agent({ name: 'talker', model: scriptedModel(['One.', 'Two.', 'Three.']) })
    const stream = agent.stream('Count.')
    const follow = stream.followUp('And on.')
    const steered = stream.steer('Slowly.')
    const texts: string[] = []
    for await (const chunk of stream.fullStream) if (chunk.type === 'text-delta') texts.push(chunk.payload.text)
    expect(texts).toEqual(['One.', 'Two.'])
    expect([await steered, await follow]).toEqual([
      { delivered: true, stepNumber: 0 },
      { delivered: true, stepNumber: 1 },
    ])
    expect(await stream.steer('More?')).toEqual({ delivered: false, reason: 'completed' })
  })

  it('of a run that could not be made delivers nothing', async () => {
    const agent = new Agent({ name: 'broken', model: { specificationVersion: 'v1' } as never })
    const stream = agent.stream('Hi')
    const steered = stream.steer('Hello?')
    await expect(stream.text).rejects.toThrow('v1')
    expect(await steered).toEqual({ delivered: false, reason: 'error' })
  })
})
