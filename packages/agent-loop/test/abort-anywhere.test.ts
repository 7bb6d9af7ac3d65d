// Abort works at every await: whatever the run waits for when it is aborted, it ends, with nothing left behind.
import { runLoop } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { hookNames, type Chunk, type HookName, type Processor } from '@lockstep/processors'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain, type DrainOptions } from './drained.ts'

const reason = new Error('enough')
const callLook = { text: 'Looking.', toolCalls: [{ toolName: 'look', input: {} }] }
const input = z.object({})
const look = tool({ inputSchema: input, execute: () => 'sunny' })

/** Never settles, and says when it is waited for. */
type Hang = () => Promise<never>

const arrayOf = (hook: HookName) =>
  ['processInput', 'processInputStep', 'processLLMRequest'].includes(hook)
    ? 'inputProcessors'
    : hook === 'processAPIError'
      ? 'errorProcessors'
      : 'outputProcessors'

const inHook = (hook: HookName) => (hang: Hang) => ({
  [arrayOf(hook)]: [{ id: 'hangs', processOutputStream: ({ part }) => part, [hook]: hang } as Processor],
  ...(hook === 'processAPIError' ? { model: scriptedModel([{ error: new Error('down') }]) } : {}),
})

const places: readonly (readonly [string, (hang: Hang) => Partial<DrainOptions>])[] = [
  // Those that clean up are waited for: they run when a run was aborted, too.
  ...hookNames.filter(hook => hook !== 'processRunEnd' && hook !== 'flush').map(hook => [hook, inHook(hook)] as const),
  ['a tool', hang => ({ tools: { look: tool({ inputSchema: input, execute: (): Promise<string> => hang() }) } })],
  [
    'a tool that gives values on the way',
    hang => ({
      tools: {
        look: tool({
          inputSchema: input,
          async *execute() {
            yield 1
            yield await hang()
          },
        }),
      },
    }),
  ],
  ['needsApproval', hang => ({ tools: { look: tool({ inputSchema: input, needsApproval: hang, execute: () => 1 }) } })],
  ['toolApproval', hang => ({ toolApproval: hang })],
  ['toModelOutput', hang => ({ tools: { look: tool({ inputSchema: input, execute: () => 1, toModelOutput: hang }) } })],
  [
    'onInputAvailable',
    hang => ({ tools: { look: tool({ inputSchema: input, execute: () => 1, onInputAvailable: hang }) } }),
  ],
  ['repairToolCall', hang => ({ tools: { other: look }, repairToolCall: hang })],
  ['prepareStep', hang => ({ prepareStep: hang })],
  ['stopWhen', hang => ({ stopWhen: hang })],
  ['onStepFinish', hang => ({ onStepFinish: hang })],
  ['a model that does not begin', hang => ({ model: Object.assign(scriptedModel([]), { doStream: hang }) })],
  [
    'a model that says no more',
    hang => ({
      model: Object.assign(scriptedModel([]), {
        doStream: () => Promise.resolve({ stream: new ReadableStream({ pull: () => hang() }) }),
      }),
    }),
  ],
  ['a download', hang => ({ download: hang, messageList: undefined as never })],
]

describe('a run that is aborted', () => {
  it.each(places)('while it waits for %s ends', async (place, optionsFor) => {
    const controller = new AbortController()
    let waitCount = 0
    const hang: Hang = () => {
      waitCount++
      setImmediate(() => controller.abort(reason))
      return new Promise<never>(() => {})
    }
    const { MessageList } = await import('@lockstep/message-list')
    const image = { type: 'file' as const, mediaType: 'image/png', data: new URL('https://example.test/a.png') }
    const asked = new MessageList().add(
      place === 'a download' ? [{ role: 'user', content: [image] }] : 'Hello',
      'input',
    )
    const { result, types } = await drain({
      model: scriptedModel([callLook, 'Done.']),
      tools: { look },
      ...optionsFor(hang),
      messageList: asked,
      abortSignal: controller.signal,
    })
    expect(waitCount).toBeGreaterThan(0)
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: reason })
    expect(types.slice(-2)).toEqual(['abort', 'finish'])
    expect(() => result.messageList.get.all.prompt()).not.toThrow()
  })
})

it('leaving the stream while it starts ends the run before the model is called', async () => {
  const model = scriptedModel(['Nobody hears this.'])
  const ends: unknown[] = []
  const loop = runLoop({
    model,
    messageList: new MessageList().add('Hello', 'input'),
    onAbort: ({ result }) => void ends.push(result.stopReason),
  })
  const first = loop.next()
  await loop.return(undefined as never)
  expect(await first).toMatchObject({ value: { stopReason: 'aborted' } })
  expect(model.doStreamCalls).toHaveLength(0)
  expect(ends).toEqual(['aborted'])
})

describe('an abort', () => {
  const slow: Processor = {
    id: 'slow',
    processDataParts: true,
    processOutputStream: async ({ part }) => (await Promise.resolve(), part),
  }

  it('is told as one, though a slow processor lets nothing more pass of what another held back', async () => {
    const controller = new AbortController()
    const holding: Processor<'holding', unknown, { held: Chunk[] }> = {
      id: 'holding',
      processOutputStream({ part, state }) {
        if (part.type !== 'text-delta') return part
        state.held = [part]
        controller.abort(new Error('enough'))
        return null
      },
      flush: ({ state }) => state.held,
    }
    const { result, types } = await drain({
      model: scriptedModel(['SECRET']),
      outputProcessors: [holding as Processor, slow],
      abortSignal: controller.signal,
    })
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'enough' } })
    expect(types).not.toContain('text-delta')
  })

  it('is told as one, though it ends what a processor does at the end of the run', async () => {
    const controller = new AbortController()
    const last: Processor = {
      id: 'last',
      processStepEnd: () => controller.abort(new Error('enough')),
      processRunEnd: ({ writer }) => writer.custom({ type: 'data-last', data: 1 }),
    }
    const { result } = await drain({
      model: scriptedModel(['ok']),
      outputProcessors: [last, slow],
      abortSignal: controller.signal,
    })
    expect(result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'enough' } })
  })

  it('that comes when the response is accepted leaves it accepted, though a processor still writes', async () => {
    const controller = new AbortController()
    const last: Processor = {
      id: 'last',
      processRunEnd: ({ writer }) => void writer.custom({ type: 'data-last', data: 1 }).catch(() => {}),
    }
    const { result } = await drain({
      model: scriptedModel(['ok']),
      outputProcessors: [last, slow],
      hold: 'run',
      abortSignal: controller.signal,
      onChunk: () => controller.abort(new Error('enough')),
    })
    expect(result).toMatchObject({ stopReason: 'completed', text: 'ok', error: undefined })
  })
})
