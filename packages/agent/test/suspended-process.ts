// Run as a process of its own: makes a run that waits for a person, writes its state to a file, and never ends by itself.
import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { writeFileSync } from 'node:fs'
import { tool } from 'ai'
import { z } from 'zod'

const pay = tool({ inputSchema: z.object({ euros: z.number() }), needsApproval: true, execute: () => 'paid' })
const model = scriptedModel([{ toolCalls: [{ toolName: 'pay', input: { euros: 5 } }] }])
const agent = new Agent({ name: 'cashier', model, tools: { pay } })
const result = await agent.generate('Pay 5.')
writeFileSync(process.argv[2]!, JSON.stringify(result.loopState))
process.stdout.write(`${result.stopReason}: ${result.pendingApprovals.map(({ toolName }) => toolName).join()}\n`)
setInterval(() => {}, 1000)
