import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { registerTelemetry, tool, type Telemetry } from 'ai'
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'

interface Started {
  readonly functionId?: string
  readonly runtimeContext: { readonly runId: string }
  /** The tool in whose context it began. */
  readonly inTool: string | undefined
}

/** Notes the runs that begin, and in which tool. */
function starts() {
  const tools = new AsyncLocalStorage<string>()
  const seen: Started[] = []
  const integration: Telemetry = {
    onStart: event => void seen.push({ ...(event as unknown as Started), inTool: tools.getStore() }),
    executeTool: ({ toolCallId, execute }) => tools.run(toolCallId, execute),
  }
  return { integration, seen }
}

afterEach(() => void (globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined))

describe('telemetry of an agent', () => {
  it('works with what was registered, for generate, stream and resume, with nothing set', async () => {
    const { integration, seen } = starts()
    registerTelemetry(integration)
    const ask = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'ran' })
    const call = { toolCalls: [{ toolName: 'ask', input: {} }] }
    const agent = new Agent({ name: 'a', model: scriptedModel(['One.', 'Two.', call, 'Three.']), tools: { ask } })
    await agent.generate('Hello')
    await agent.stream('Hello').text
    const { loopState, pendingApprovals } = await agent.generate('Hello')
    const decisions = pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true }))
    expect(await agent.resume(loopState!, decisions).text).toBe('Three.')
    expect(seen).toHaveLength(4)
    expect(seen[3]!.runtimeContext.runId).toBe(seen[2]!.runtimeContext.runId)
  })

  it('is set for all calls in the default options, and for one call in its own', async () => {
    const [usual, other] = [starts(), starts()]
    const telemetry = { integrations: usual.integration, functionId: 'helper' }
    const agent = new Agent({
      name: 'a',
      model: scriptedModel(['One.', 'Two.', 'Three.']),
      defaultOptions: { telemetry },
    })
    await agent.generate('Hello')
    await agent.generate('Hello', { telemetry: { integrations: other.integration, functionId: 'once' } })
    await agent.generate('Hello', { telemetry: { isEnabled: false } })
    expect(usual.seen.map(({ functionId }) => functionId)).toEqual(['helper'])
    expect(other.seen.map(({ functionId }) => functionId)).toEqual(['once'])
  })

  it('puts an agent that a tool calls inside that tool', async () => {
    const { integration, seen } = starts()
    registerTelemetry(integration)
    const inner = new Agent({ name: 'inner', model: scriptedModel(['One.', 'Two.'], { modelId: 'inner' }) })
    const delegate = tool({ inputSchema: z.object({}), execute: async () => (await inner.generate('Hello')).text })
    const calls = ['first', 'second'].map(toolCallId => ({ toolName: 'delegate', input: {}, toolCallId }))
    const outer = new Agent({
      name: 'outer',
      model: scriptedModel([{ toolCalls: calls }, 'Done.']),
      tools: { delegate },
    })
    await outer.generate('Hello')
    expect(seen.map(({ inTool }) => inTool)).toEqual([undefined, 'first', 'second'])
  })
})
