// How long a change to messages lives: for a step, for the run, or not at all. The same in generate and in stream.
import type { AgentMessage } from '@lockstep/agent'
import type { PrepareStep } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'
import { agentOf, bothPaths, callLook, promptOf, textsOf } from './both-paths.ts'

const forStep =
  (first: PrepareStep): PrepareStep =>
  args =>
    args.stepNumber === 0 ? first(args) : undefined

const rewritten = (message: AgentMessage, words: string): AgentMessage => ({
  ...message,
  content: { ...message.content, parts: [{ type: 'text', text: words }] },
})

describe.each(bothPaths)('a change that prepareStep makes, by $path', ({ run }) => {
  it('by a write into a message is refused, and the cure is told', async () => {
    const { agent, model } = agentOf(['never'])
    const prepareStep: PrepareStep = ({ messages }) => {
      ;(messages.at(-1)!.content.parts as unknown as object[]).push({ type: 'text', text: 'injected' })
    }
    await expect(run(agent, 'Hello', { prepareStep })).rejects.toMatchObject({
      code: 'frozen-write',
      processorId: 'prepare-step',
      message: expect.stringContaining('update('),
    })
    expect(model.doStreamCalls).toHaveLength(0)
  })

  it.each<[string, PrepareStep, readonly string[]]>([
    ['another array', () => ({ messages: [{ role: 'user', content: 'Something else.' }] }), ['user: Something else.']],
    [
      'a message more',
      ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'Only now.' }] }),
      ['user: Hello', 'user: And this.', 'user: Only now.'],
    ],
    ['a message less', ({ messages }) => ({ messages: messages.slice(1) }), ['user: And this.']],
    [
      'another object for a message',
      ({ messages }) => ({ messages: [rewritten(messages[0]!, 'HELLO'), ...messages.slice(1)] }),
      ['user: HELLO', 'user: And this.'],
    ],
    ['another order', ({ messages }) => ({ messages: messages.toReversed() }), ['user: And this.', 'user: Hello']],
  ])(
    'by returning %s is for that step alone: the next one has the conversation as it was',
    async (_, first, expected) => {
      const { agent, model } = agentOf([callLook, 'done'])
      const { result } = await run(agent, ['Hello', 'And this.'], { prepareStep: forStep(first) })
      expect(promptOf(model, 0)).toEqual(expected)
      expect(promptOf(model, 1)).toEqual([
        'user: Hello',
        'user: And this.',
        'assistant: tool-call',
        'tool: tool-result',
      ])
      expect(textsOf(result.messageList.get.input.db())).toEqual(['Hello', 'And this.'])
    },
  )

  it('lives on when it is made through the list, or returned with the scope of the run', async () => {
    const { agent, model } = agentOf([callLook, callLook, 'done'])
    const prepareStep: PrepareStep = ({ stepNumber, messages, messageList }) => {
      if (stepNumber === 0) messageList.add('By the list.', 'input')
      if (stepNumber !== 1) return undefined
      return { messages: [...messages, { role: 'user', content: 'By scope.' }], scope: 'run' }
    }
    await run(agent, 'Hello', { prepareStep })
    expect(promptOf(model, 2).filter(line => line.startsWith('user'))).toEqual([
      'user: Hello',
      'user: By the list.',
      'user: By scope.',
    ])
  })

  it('sees in the next step what the last one said and what its tools gave', async () => {
    const seen: (readonly string[])[] = []
    const { agent } = agentOf([{ text: 'Let me look.', ...callLook }, 'done'])
    const prepareStep: PrepareStep = ({ messages }) =>
      void seen.push(messages.flatMap(message => message.content.parts.map(part => part.type)))
    await run(agent, 'Hello', { prepareStep })
    expect(seen).toEqual([['text'], ['text', 'step-start', 'text', 'tool-look']])
  })

  it('is not in what was given before: an array that was kept stays as it was', async () => {
    const kept: (readonly AgentMessage[])[] = []
    const { agent } = agentOf([callLook, 'done'])
    await run(agent, 'Hello', { prepareStep: ({ messages }) => void kept.push(messages) })
    expect(kept.map(messages => messages.length)).toEqual([1, 2])
    expect(kept[0]![0]).toBe(kept[1]![0])
  })
})

describe.each(bothPaths)('what callbacks and results hand out, by $path', ({ run }) => {
  it('cannot be used to change the next step: onStepFinish gets frozen records', async () => {
    const { agent, model } = agentOf([{ text: 'first', ...callLook }, 'done'])
    const refused: unknown[] = []
    await run(agent, 'Hello', {
      onStepFinish: step => {
        if (step.stepNumber > 0) return
        for (const write of [
          () => ((step as { text: string }).text = 'evil'),
          () => (step.toolCalls as unknown as object[]).push({}),
          () => ((step.toolCalls[0]!.input as { at?: string }).at = 'evil'),
        ])
          try {
            write()
          } catch (error) {
            refused.push(error)
          }
      },
    })
    expect(refused).toHaveLength(3)
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt)).not.toContain('evil')
  })

  it("leaves the caller's own messages alone, and is left alone by them", async () => {
    const parts = [{ type: 'text' as const, text: 'Hello' }]
    const messages = [{ role: 'user' as const, content: parts }]
    const { agent, model } = agentOf([callLook, 'done'])
    const { result } = await run(agent, messages, {
      onStepFinish: () => void (parts[0]!.text = 'changed by the caller'),
      prepareStep: ({ messages: given, messageList }) =>
        void messageList.update(given[0]!.id, draft => void (draft.content.metadata = { seen: true })),
    })
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'changed by the caller' }] }])
    expect(promptOf(model, 1)[0]).toBe('user: Hello')
    expect(textsOf(result.messageList.get.input.db())).toEqual(['Hello'])
  })

  it('has only what the model and its tools said as the response', async () => {
    const { agent } = agentOf([callLook, 'done'])
    const { result } = await run(agent, 'Hello', {
      prepareStep: ({ messages }) => ({ messages: [...messages, { role: 'user', content: 'Only now.' }] }),
    })
    expect(result.response.messages.map(message => message.role)).toEqual(['assistant', 'tool', 'assistant'])
  })
})
