import { Steering, type Delivery } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import type { MockLanguageModelV4 } from 'ai/test'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

const promptOf = (model: MockLanguageModelV4, call: number) =>
  model.doStreamCalls[call]!.prompt.map(({ role, content }) => {
    const words =
      typeof content === 'string' ? content : content.map(part => ('text' in part ? part.text : part.type)).join('+')
    return `${role}: ${words}`
  })

/** A run whose tool says something to the run while it goes. */
const said = async (
  say: (steering: Steering) => Promise<Delivery>[],
  options: Partial<Parameters<typeof drain>[0]> = {},
) => {
  const steering = new Steering()
  const deliveries: Promise<Delivery>[] = []
  const look = tool({
    inputSchema: z.object({}),
    execute: () => {
      deliveries.push(...say(steering))
      return 'sunny'
    },
  })
  const model = scriptedModel([
    { text: 'Looking.', toolCalls: [{ toolName: 'look', input: {} }] },
    'One.',
    'Two.',
    'Three.',
  ])
  const drained = await drain({ model, tools: { look }, steering, ...options })
  return { ...drained, model, deliveries: await Promise.all(deliveries), steering }
}

describe('a steered message', () => {
  it('enters before the next step, and says in which', async () => {
    const { model, result, deliveries, chunks } = await said(steering => [steering.steer('Be quick.')])
    expect(promptOf(model, 1)).toEqual([
      'user: Hello',
      'assistant: Looking.+tool-call',
      'tool: tool-result',
      'user: Be quick.',
    ])
    expect(deliveries).toEqual([{ delivered: true, stepNumber: 1 }])
    expect(chunks.find(chunk => chunk.type === 'steering-message')).toMatchObject({
      payload: { stepNumber: 1, message: { role: 'user', content: { parts: [{ text: 'Be quick.' }] } } },
    })
    expect(result.text).toBe('One.')
  })

  it('closes the response, which goes on in another message; a client sees one with the message in it', async () => {
    const { result } = await said(steering => [steering.steer('Be quick.')])
    expect(result.messageList.get.all.db().map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    const [, response] = result.messageList.toUIMessages()
    expect(response!.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
      'tool-look',
      'steering-message',
      'step-start',
      'text',
    ])
    expect(result.steps.map(({ text }) => text)).toEqual(['Looking.', 'One.'])
  })

  it('lets a run go on that was about to end', async () => {
    const steering = new Steering()
    const model = scriptedModel(['One.', 'Two.'])
    let delivery: Promise<Delivery> | undefined
    const { result } = await drain({
      model,
      steering,
      onChunk: chunk => void (chunk.type === 'text-end' && (delivery ??= steering.steer('And?'))),
    })
    expect(result).toMatchObject({ text: 'Two.', stopReason: 'completed' })
    expect(await delivery).toEqual({ delivered: true, stepNumber: 1 })
  })

  it('that was there before the run began is part of its first step', async () => {
    const steering = new Steering()
    const delivery = steering.steer('Early.')
    const model = scriptedModel(['One.'])
    await drain({ model, steering })
    expect(promptOf(model, 0)).toEqual(['user: Hello', 'user: Early.'])
    expect(await delivery).toEqual({ delivered: true, stepNumber: 0 })
  })

  it('passes processInput alone, as the input did', async () => {
    const seen: string[][] = []
    const shout: Processor = {
      id: 'shout',
      processInput({ messages, messageList }) {
        seen.push(messages.map(({ content }) => (content.parts[0] as { text: string }).text))
        for (const { id } of messages)
          messageList.update(id, draft => {
            for (const part of draft.content.parts) if (part.type === 'text') part.text = part.text.toUpperCase()
          })
      },
    }
    const { model } = await said(steering => [steering.steer('psst')], { inputProcessors: [shout] })
    expect(seen).toEqual([['Hello'], ['psst']])
    expect(promptOf(model, 1).at(-1)).toBe('user: PSST')
  })

  it('that a processor refuses ends the run, and is nowhere', async () => {
    const guard: Processor = {
      id: 'guard',
      processInput: ({ messages, abort }) => void (JSON.stringify(messages).includes('bomb') && abort('no bombs')),
    }
    const { result, deliveries } = await said(steering => [steering.steer('bomb'), steering.steer('later')], {
      inputProcessors: [guard],
    })
    expect(result).toMatchObject({ stopReason: 'tripwire', text: 'Looking.' })
    expect(deliveries).toEqual([
      { delivered: false, reason: 'tripwire' },
      { delivered: false, reason: 'tripwire' },
    ])
    expect(JSON.stringify(result.messageList.toJSON())).not.toContain('bomb')
  })

  it('that is no message is refused, and the run goes on', async () => {
    const steering = new Steering()
    const refused = steering.steer({ role: 'nobody' } as never).catch((error: unknown) => error)
    const { result } = await drain({ model: scriptedModel(['One.']), steering })
    expect(result.stopReason).toBe('completed')
    expect(await refused).toMatchObject({ name: 'MessageListError' })
  })

  it('stays when the whole response is withdrawn', async () => {
    const { result } = await said(steering => [steering.steer('Be quick.')], {
      outputProcessors: [{ id: 'no', processOutputResult: ({ abort }) => abort('no') }],
    })
    const texts = result.messageList.get.all.db().map(({ content }) => (content.parts[0] as { text: string }).text)
    expect(texts).toEqual(['Hello', 'Be quick.'])
  })

  it('that comes too late is not delivered, with the reason', async () => {
    const { deliveries, steering } = await said(run => [run.steer('more')], { maxSteps: 1 })
    expect(deliveries).toEqual([{ delivered: false, reason: 'max-steps' }])
    expect(await steering.steer('hello?')).toEqual({ delivered: false, reason: 'max-steps' })
    expect(await steering.followUp('anyone?')).toEqual({ delivered: false, reason: 'max-steps' })
  })

  it('is not delivered when the run is aborted', async () => {
    const controller = new AbortController()
    const { deliveries, result } = await said(
      run => {
        controller.abort(new Error('stop'))
        return [run.steer('more')]
      },
      { abortSignal: controller.signal },
    )
    expect(result.stopReason).toBe('aborted')
    expect(deliveries).toEqual([{ delivered: false, reason: 'aborted' }])
  })
})

describe('a follow-up', () => {
  it('enters when there is an answer, one after the other, each with an answer of its own', async () => {
    const { model, result, deliveries } = await said(steering => [
      steering.followUp('And then?'),
      steering.followUp('At last?'),
    ])
    expect(promptOf(model, 1)).not.toContain('user: And then?')
    expect(promptOf(model, 2).slice(-2)).toEqual(['assistant: One.', 'user: And then?'])
    expect(promptOf(model, 3).slice(-2)).toEqual(['assistant: Two.', 'user: At last?'])
    expect(deliveries).toEqual([
      { delivered: true, stepNumber: 2 },
      { delivered: true, stepNumber: 3 },
    ])
    expect(result.steps).toHaveLength(4)
  })

  it('waits for steered messages, which come first', async () => {
    const { model } = await said(steering => [steering.followUp('later'), steering.steer('now')])
    expect(promptOf(model, 1).at(-1)).toBe('user: now')
    expect(promptOf(model, 2).at(-1)).toBe('user: later')
  })
})
