// A call that needs a person suspends the run. Its state is JSON: another process goes on with it, tomorrow if need be.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type LoopState } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { z } from 'zod'

const tools = {
  pay: tool({
    inputSchema: z.object({ euros: z.number() }),
    needsApproval: true,
    execute: ({ euros }) => `paid ${euros} euros`,
  }),
}
const folder = mkdtempSync(join(tmpdir(), 'recipes-'))
const file = join(folder, 'run.json')

{
  const model = scriptedModel([{ toolCalls: [{ toolName: 'pay', input: { euros: 500 } }] }])
  const { stopReason, pendingApprovals, loopState } = await new Agent({ name: 'buyer', model, tools }).generate('Pay.')
  console.log(stopReason, pendingApprovals[0]?.toolName, pendingApprovals[0]?.input)
  writeFileSync(file, JSON.stringify({ loopState, pendingApprovals }))
}

{
  const saved = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly loopState: LoopState
    readonly pendingApprovals: readonly { readonly approvalId: string }[]
  }
  const agent = new Agent({ name: 'buyer', model: scriptedModel(['Paid, but less.']), tools })
  const decisions = saved.pendingApprovals.map(({ approvalId }) => ({
    approvalId,
    approved: true as const,
    input: { euros: 50 },
  }))
  const { text, toolResults } = await agent.resume(saved.loopState, decisions).result
  console.log(text, toolResults[0]?.output)
}

rmSync(folder, { recursive: true })
