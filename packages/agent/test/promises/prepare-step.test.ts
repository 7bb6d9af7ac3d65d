// prepareStep as a default of the agent and as an option of a call, in generate and in stream.
import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { PrepareStep } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, bothPaths, callLook, hooked, promptOf, textsOf, toolsOf } from './both-paths.ts'

describe.each(bothPaths)('Agent with prepareStep (defaultGenerateOptions), by $path', ({ path, run }) => {
  it(`prepareStep runs on every ${path} call`, async () => {
    const steps: number[] = []
    const prepareStep: PrepareStep = ({ stepNumber }) => void steps.push(stepNumber)
    const { agent } = agentOf([callLook, 'one', 'two'], { defaultGenerateOptions: { prepareStep } })
    await run(agent)
    await run(agent)
    expect(steps).toEqual([0, 1, 0])
  })

  it('prepareStep can modify model', async () => {
    const other = scriptedModel(['from the other'], { modelId: 'other' })
    const { agent, model } = agentOf([], { defaultGenerateOptions: { prepareStep: () => ({ model: other }) } })
    const { result } = await run(agent)
    expect([result.text, result.steps[0]!.model.modelId, model.doStreamCalls.length]).toEqual([
      'from the other',
      'other',
      0,
    ])
  })

  it('prepareStep can modify toolChoice', async () => {
    const prepareStep: PrepareStep = ({ stepNumber }) =>
      stepNumber === 0 ? { toolChoice: { type: 'tool', toolName: 'look' } } : { toolChoice: 'none' }
    const { agent, model } = agentOf([callLook, 'done'], { defaultGenerateOptions: { prepareStep } })
    await run(agent)
    expect(model.doStreamCalls.map(call => call.toolChoice)).toEqual([
      { type: 'tool', toolName: 'look' },
      { type: 'none' },
    ])
  })

  it('prepareStep can modify activeTools', async () => {
    const prepareStep: PrepareStep = ({ stepNumber }) => (stepNumber === 0 ? { activeTools: ['touch'] } : undefined)
    const { agent, model } = agentOf([callLook, 'done'], { defaultGenerateOptions: { prepareStep } })
    const { result } = await run(agent)
    expect([toolsOf(model, 0), toolsOf(model, 1)]).toEqual([['touch'], ['look', 'touch']])
    expect(result.steps[0]!.toolResults).toEqual([])
    expect(result.steps[0]!.toolErrors).toMatchObject([{ toolName: 'look' }])
  })
})

describe.each(bothPaths)('Agent.$path with prepareStep', ({ run }) => {
  it('Per-call prepareStep works', async () => {
    const { agent, model } = agentOf([callLook, 'done'])
    await run(agent, 'Hello', {
      prepareStep: ({ stepNumber }) => (stepNumber > 0 ? { modelSettings: { temperature: 0 } } : undefined),
    })
    expect(model.doStreamCalls.map(call => call.temperature)).toEqual([undefined, 0])
  })

  it('Per-call prepareStep overrides defaultGenerateOptions.prepareStep', async () => {
    const calls: string[] = []
    const { agent } = agentOf(['one'], { defaultGenerateOptions: { prepareStep: () => void calls.push('default') } })
    await run(agent, 'Hello', { prepareStep: () => void calls.push('call') })
    expect(calls).toEqual(['call'])
  })

  it('runs after all input processors, and has the last word', async () => {
    const { agent, model } = agentOf(['one'], {
      inputProcessors: [
        hooked('first', { processInputStep: ({ messageList }) => void messageList.add('from first', 'input') }),
        hooked('second', { processInputStep: () => ({ toolChoice: 'required' as const, modelSettings: { topP: 1 } }) }),
      ],
    })
    const seen: unknown[] = []
    await run(agent, 'Hello', {
      prepareStep: ({ messages, toolChoice }) => {
        seen.push(textsOf(messages), toolChoice)
        return { toolChoice: 'none' }
      },
    })
    expect(seen).toEqual([['Hello', 'from first'], 'required'])
    expect(model.doStreamCalls[0]).toMatchObject({ toolChoice: { type: 'none' }, topP: 1 })
  })

  it('switches models by step, a fast one first and a strong one after', async () => {
    const fast = scriptedModel([callLook], { modelId: 'fast' })
    const strong = scriptedModel(['done'], { modelId: 'strong' })
    const { agent } = agentOf([])
    const { result } = await run(agent, 'Hello', {
      prepareStep: ({ stepNumber }) => ({ model: stepNumber === 0 ? fast : strong }),
    })
    expect(result.steps.map(step => step.model.modelId)).toEqual(['fast', 'strong'])
  })

  it('adds and replaces tools for a step; what it adds can be called', async () => {
    const smell = tool({ inputSchema: z.object({}), execute: () => 'roses' })
    const { agent, model } = agentOf([{ toolCalls: [{ toolName: 'smell', input: {} }] }, 'done'])
    const { result } = await run(agent, 'Hello', {
      prepareStep: ({ stepNumber, tools }) => (stepNumber === 0 ? { tools: { ...tools, smell } } : undefined),
    })
    expect([toolsOf(model, 0), toolsOf(model, 1)]).toEqual([
      ['look', 'touch', 'smell'],
      ['look', 'touch'],
    ])
    expect(result.toolResults).toMatchObject([{ toolName: 'smell', output: 'roses' }])
  })

  it('cannot add tools by activeTools: it only filters', async () => {
    const { agent, model } = agentOf(['done'])
    await run(agent, 'Hello', { prepareStep: () => ({ activeTools: ['look', 'fly'] as never }) })
    expect(toolsOf(model, 0)).toEqual(['look'])
  })

  it('is given stored messages, and the format of the AI SDK by the list', async () => {
    const seen: unknown[] = []
    const { agent } = agentOf(['done'])
    await run(agent, 'Hello', {
      prepareStep: ({ messages, messageList }) =>
        void seen.push(messages[0]!.content.format, messageList.get.all.aiV5.model()),
    })
    expect(seen).toEqual([2, [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]])
  })
})

describe.each(bothPaths)('system messages of a step, by $path', ({ run }) => {
  it('are reset to the original ones at each step', async () => {
    const { agent, model } = agentOf([callLook, callLook, 'done'], { instructions: 'Be brief.' })
    await run(agent, 'Hello', {
      prepareStep: ({ stepNumber, systemMessages }) =>
        stepNumber === 1 ? { systemMessages: [...systemMessages, { role: 'system', content: 'Step 1.' }] } : undefined,
    })
    const systems = [0, 1, 2].map(call => promptOf(model, call).filter(line => line.startsWith('system')))
    expect(systems).toEqual([['system: Be brief.'], ['system: Be brief.', 'system: Step 1.'], ['system: Be brief.']])
  })

  it('are reset to what processInput left', async () => {
    const { agent, model } = agentOf([callLook, 'done'], {
      instructions: 'Be brief.',
      inputProcessors: [
        hooked('tenant', {
          processInput: ({ messages }) => ({
            messages,
            systemMessages: [{ role: 'system' as const, content: 'You serve acme.' }],
          }),
          processInputStep: ({ stepNumber, messageList }) => void (stepNumber === 0 && messageList.addSystem('First.')),
        }),
      ],
    })
    await run(agent)
    expect([0, 1].map(call => promptOf(model, call).filter(line => line.startsWith('system')))).toEqual([
      ['system: You serve acme.', 'system: First.'],
      ['system: You serve acme.'],
    ])
  })

  it('are replaced by systemMessages and added to by messages, in processInput as in processInputStep', async () => {
    const twice = hooked('twice', {
      processInput: ({ messages }) => [...messages, { role: 'system' as const, content: 'added once' }],
      processInputStep: ({ messages }) => [...messages, { role: 'system' as const, content: 'added for the step' }],
    })
    const replacing = hooked('replacing', {
      processInputStep: ({ stepNumber }) =>
        stepNumber === 1 ? { systemMessages: [{ role: 'system' as const, content: 'only this' }] } : undefined,
    })
    const { agent, model } = agentOf([callLook, 'done'], {
      instructions: 'Be brief.',
      inputProcessors: [twice, replacing],
    })
    await run(agent)
    expect([0, 1].map(call => promptOf(model, call).filter(line => line.startsWith('system')))).toEqual([
      ['system: Be brief.', 'system: added once', 'system: added for the step'],
      ['system: only this'],
    ])
  })
})
