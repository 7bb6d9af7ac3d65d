import { resumeLoop, runLoop } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import type { Chunk, Processor } from '@lockstep/processors'
import { isStepCount, streamText, tool, ToolLoopAgent, type ToolSet } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'
import { spanRecorder } from './span-tree.ts'

const echo = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n })
const broken = tool({ inputSchema: z.object({}), execute: (): string => { throw new Error('no') } }) // prettier-ignore
const callEcho = { toolCalls: [{ toolName: 'echo', input: { n: 1 } }] }
const both = { toolCalls: [...callEcho.toolCalls, { toolName: 'broken', input: {} }] }

async function traced(options: DrainOptions, telemetry: object = {}) {
  const recorder = spanRecorder({ runtimeContext: true, providerMetadata: true })
  const drained = await drain({ ...options, telemetry: { ...telemetry, integrations: recorder.integration } })
  expect(recorder.spans).toHaveLength(recorder.startedCount)
  return { ...drained, ...recorder, tree: recorder.tree(), spans: recorder.spans }
}

describe('the spans of a run', () => {
  it.each<[string, () => readonly ScriptedTurn[]]>([
    ['one answer', () => ['Hi.']],
    ['two steps and a tool', () => [callEcho, 'Done.']],
    ['two tools at once, of which one fails', () => [both, 'Done.']],
    ['a tool that is not there', () => [{ toolCalls: [{ toolName: 'gone', input: {} }] }, 'Done.']],
    ['an answer that was cut off', () => [{ text: 'So', finishReason: 'length' }]],
  ])('are those of the AI SDK: %s', async (_name, turns) => {
    const tools: ToolSet = { echo, broken }
    const sdk = spanRecorder()
    const settings = { model: scriptedModel(turns()), tools, stopWhen: isStepCount(5) }
    await streamText({ ...settings, prompt: 'Hello', telemetry: { integrations: sdk.integration } }).text
    const own = await traced({ model: scriptedModel(turns()), tools })
    expect(own.tree).toBe(sdk.tree())
  })

  it('of a failing model are those of the AI SDK, with the error on them', async () => {
    const turns = () => [{ error: new Error('down') }]
    const sdk = spanRecorder()
    const settings = { model: scriptedModel(turns()), tools: { echo }, stopWhen: isStepCount(5), onError: () => {} }
    const stream = streamText({ ...settings, prompt: 'Hello', telemetry: { integrations: sdk.integration } })
    await stream.consumeStream()
    const own = await traced({ model: scriptedModel(turns()), tools: { echo } })
    expect(own.tree).toBe(sdk.tree())
    expect(own.spans.find(({ name }) => name === 'step 1')!.status.message).toBe('down')
    const later = await traced({ model: scriptedModel([callEcho, ...turns()]), tools: { echo } })
    expect(later.tree.split('\n').filter(line => line.endsWith('!'))).toEqual([
      'invoke_agent scripted !',
      '  step 2 !',
      '    chat scripted !',
    ])
  })

  it('have the attributes that the AI SDK gives', async () => {
    const attributesOf = (spans: ReturnType<typeof spanRecorder>['spans']) =>
      spans.map(({ name, attributes }) => [name, Object.keys(attributes).filter(key => !key.startsWith('ai.settings'))])
    const sdk = spanRecorder()
    const turns = () => [callEcho, 'Done.']
    const settings = { model: scriptedModel(turns()), tools: { echo }, stopWhen: isStepCount(5), temperature: 0.5 }
    const telemetry = { functionId: 'helper' }
    await streamText({ ...settings, prompt: 'Hello', telemetry: { ...telemetry, integrations: sdk.integration } }).text
    const own = spanRecorder()
    await drain({
      model: scriptedModel(turns()),
      tools: { echo },
      modelSettings: { temperature: 0.5 },
      telemetry: { ...telemetry, integrations: own.integration },
    })
    const expected = attributesOf(sdk.spans).map(([name, keys]) => [name, (keys as string[]).toSorted()])
    expect(attributesOf(own.spans).map(([name, keys]) => [name, (keys as string[]).toSorted()])).toEqual(expected)
  })

  it('have one for each processor hook that did something, below what it belongs to', async () => {
    const loud = (part: Chunk) =>
      part.type === 'text-delta'
        ? { ...part, payload: { ...part.payload, text: part.payload.text.toUpperCase() } }
        : part
    const inputProcessors: Processor[] = [
      { id: 'note', processInput: ({ messageList }) => messageList.add('And be brief.', 'input') },
      { id: 'cool', processInputStep: () => ({ modelSettings: { temperature: 0 } }), processStepEnd: () => {} },
    ]
    const outputProcessors: Processor[] = [
      {
        id: 'guard',
        processOutputStream: ({ part }) => loud(part),
        processOutputStep: ({ text, abort }) => void (text === 'NO.' && abort('be kind', { retry: true })),
        processToolCall: ({ toolName }) => (toolName === 'broken' ? { deny: 'not this one' } : undefined),
        processToolResult: () => ({ output: 2 }),
        processOutputResult: ({ messages, messageList }) =>
          messageList.update(messages[0]!.id, draft => void (draft.content.metadata = { checked: true })),
      },
    ]
    const script = [both, 'no.', { error: new Error('down') }, 'Yes.']
    const errorProcessors: Processor[] = [{ id: 'again', processAPIError: () => ({ retry: true }) }]
    const tools = { echo, broken }
    const own = await traced({
      model: scriptedModel(script),
      tools,
      inputProcessors,
      outputProcessors,
      errorProcessors,
    })
    expect(own.result.text).toBe('YES.')
    expect(own.tree).toBe(
      `
invoke_agent scripted
  step 1
    processor note.processInput
    processor cool.processInputStep
    chat scripted
      processor guard.processToolCall
    execute_tool echo
      processor guard.processToolResult
  step 2
    processor cool.processInputStep
    chat scripted !
      processor guard.processOutputStream
      processor guard.processOutputStep !
    processor cool.processInputStep
    chat scripted !
    processor again.processAPIError
    chat scripted
      processor guard.processOutputStream
    processor guard.processOutputResult`.trim(),
    )
    const guard = own.spans.find(({ name }) => name === 'processor guard.processOutputStep')!
    expect(guard.status.message).toBe('asked for a retry: "be kind"')
    expect(guard.attributes).toMatchObject({
      'gen_ai.operation.name': 'processor',
      'ai.settings.context.processorId': 'guard',
      'ai.settings.context.hook': 'processOutputStep',
      'ai.settings.context.effect': 'tripwire',
      'ai.settings.context.runId': own.result.runId,
    })
  })

  it('of a refused input and of a refused response show who refused', async () => {
    const refuse = (hook: string) =>
      ({ id: 'guard', [hook]: ({ abort }: { readonly abort: (reason: string) => never }) => abort('no') }) as Processor
    const input = await traced({ model: scriptedModel([]), inputProcessors: [refuse('processInput')] })
    expect(input.tree).toBe('invoke_agent scripted\n  step 1 !\n    processor guard.processInput !')
    const output = await traced({ model: scriptedModel(['Hi.']), outputProcessors: [refuse('processOutputResult')] })
    expect(output.tree).toBe(
      'invoke_agent scripted\n  step 1 !\n    chat scripted\n    processor guard.processOutputResult !',
    )
    const root = output.spans.find(({ name }) => name.startsWith('invoke_agent'))!
    expect(JSON.parse(String(root.attributes['ai.response.providerMetadata']))).toEqual({
      lockstep: { runId: output.result.runId, stopReason: 'tripwire', reason: 'no' },
    })
  })

  it('of calls that a tool or a processor makes are below it', async () => {
    const recorder = spanRecorder()
    const telemetry = { integrations: recorder.integration }
    const inner = () => ({ model: scriptedModel(['Inner.'], { modelId: 'inner' }), telemetry })
    const nested = tool({
      inputSchema: z.object({}),
      execute: async () => {
        await streamText({ ...inner(), prompt: 'Hello' }).text
        for await (const _ of runLoop({ ...inner(), messageList: new MessageList().add('Hello', 'input') }));
        return new ToolLoopAgent(inner()).generate({ prompt: 'Hello' }).then(
          ({ text }) => text,
          () => 'streams only',
        )
      },
    })
    const judge: Processor = {
      id: 'judge',
      processOutputStep: async ({ callModel }) => void (await callModel({ ...inner(), prompt: 'Good?' })),
    }
    const script = [{ toolCalls: [{ toolName: 'nested', input: {} }] }, 'Done.']
    await drain({ model: scriptedModel(script), tools: { nested }, outputProcessors: [judge], telemetry })
    const call = (indent: string, failed = '') => `
${indent}invoke_agent inner${failed}
${indent}  step 1${failed}
${indent}    chat inner${failed}`
    expect(recorder.tree()).toBe(
      `invoke_agent scripted
  step 1
    chat scripted${call('      ')}
    execute_tool nested${call('      ')}${call('      ')}${call('      ', ' !')}
  step 2
    chat scripted${call('      ')}`,
    )
  })

  it('of two runs at once stay apart', async () => {
    const recorder = spanRecorder()
    const telemetry = { integrations: recorder.integration }
    const processors = {
      outputProcessors: [{ id: 'p', processToolResult: async () => (await Promise.resolve(), { output: 2 }) }],
    }
    const run = () => drain({ model: scriptedModel([callEcho, 'Done.']), tools: { echo }, telemetry, ...processors })
    await Promise.all([run(), run()])
    const one = `invoke_agent scripted
  step 1
    chat scripted
    execute_tool echo
      processor p.processToolResult
  step 2
    chat scripted`
    expect(recorder.tree()).toBe(`${one}\n${one}`)
  })

  it('of a resumed run are a new trace with the same run id', async () => {
    const ask = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'ran' })
    const first = await traced({
      model: scriptedModel([{ toolCalls: [{ toolName: 'ask', input: {} }] }]),
      tools: { ask },
    })
    expect(first.tree).toBe('invoke_agent scripted\n  step 1\n    chat scripted')
    const second = spanRecorder({ runtimeContext: true })
    const decisions = first.result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true }))
    const options = { model: scriptedModel(['Done.']), tools: { ask }, telemetry: { integrations: second.integration } }
    for await (const _ of resumeLoop({ state: first.result.loopState!, decisions }, options));
    expect(second.tree()).toBe('invoke_agent scripted\n  step 1\n    execute_tool ask\n  step 2\n    chat scripted')
    const rootOf = (spans: typeof first.spans) => spans.find(({ name }) => name.startsWith('invoke_agent'))!
    const [before, after] = [rootOf(first.spans), rootOf(second.spans)]
    expect(after.attributes['ai.settings.context.runId']).toBe(before.attributes['ai.settings.context.runId'])
    expect(after.spanContext().traceId).not.toBe(before.spanContext().traceId)
  })
})
