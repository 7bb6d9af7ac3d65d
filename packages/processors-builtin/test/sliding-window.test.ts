import { describe, expect, it } from 'vitest'
import { MessageList } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import { slidingWindow, type SlidingWindowOptions } from '@lockstep/processors-builtin/sliding-window'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, saidIn, turnsOf } from './long-conversation.ts'

processorContract(() => slidingWindow({ turns: 2 }))

const turn = (index: number) => [`question ${index}`, `result ${index}`, `answer ${index}`]

async function said(options: SlidingWindowOptions, more: RunWithOptions = {}, before: readonly Processor[] = []) {
  const { prompts } = await runWith([...before, slidingWindow(options)], {
    model: ['Yes.'],
    history: turnsOf(5),
    input: 'question 5',
    ...more,
  })
  expect(prompts.flatMap(orphansIn)).toEqual([])
  return saidIn(prompts[0]!)
}

describe('the sliding window', () => {
  it('keeps the last turns', async () => {
    expect(await said({ turns: 2 })).toEqual([...turn(3), ...turn(4), 'question 5'])
    expect(await said({ turns: 0 })).toEqual(['question 5'])
    expect(await said({})).toHaveLength(16)
  })

  it('keeps pinned turns', async () => {
    const pin: SlidingWindowOptions['pin'] = ({ content }) => JSON.stringify(content).includes('answer 1')
    expect(await said({ turns: 1, pin })).toEqual([...turn(1), ...turn(4), 'question 5'])
  })

  it('keeps the turns of messages that say that they are pinned, and of context', async () => {
    const messageList = new MessageList().add(turnsOf(2), 'memory')
    const metadata = { pinned: true }
    messageList.add({ id: 'p', role: 'user', parts: [{ type: 'text', text: 'question 2' }], metadata }, 'memory')
    messageList.add({ role: 'assistant', content: 'answer 2' }, 'memory')
    messageList.add('question 3', 'context')
    messageList.add([{ role: 'assistant', content: 'answer 3' }, ...turnsOf(2)], 'memory').add('question 5', 'input')
    const kept = ['question 2', 'answer 2', 'question 3', 'answer 3', ...turn(1), 'question 5']
    expect(await said({ turns: 1 }, { messageList })).toEqual(kept)
  })

  it('finds any number of pinned messages where others were left out before', async () => {
    const before: Processor = {
      id: 'before',
      processLLMRequest: ({ prompt }) => ({ prompt: prompt.filter((_, index) => index < 4 || index >= 8) }),
    }
    const kept = [0, 2, 3, 4].flatMap(turn)
    expect(await said({ turns: 0, pin: () => true }, {}, [before])).toEqual([...kept, 'question 5'])
  })

  it('keeps instructions, and knows the run where its question was edited', async () => {
    const edited: Processor = {
      id: 'edited',
      processLLMRequest: ({ prompt }) => ({
        prompt: prompt.map(message =>
          message.role === 'user'
            ? {
                ...message,
                content: message.content.map(
                  part => ({ ...part, text: `${(part as { text: string }).text}!` }) as never,
                ),
              }
            : message,
        ),
      }),
    }
    expect(await said({ turns: 1 }, { system: 'question 9' }, [edited])).toEqual([
      'question 9',
      ...turn(4),
      'question 5',
    ])
  })

  it('finds the question of the run where messages before it were left out', async () => {
    const earlier: Processor = {
      id: 'earlier',
      processLLMRequest: ({ prompt }) => ({ prompt: prompt.slice(4) }),
    }
    expect(await said({ turns: 1 }, {}, [earlier])).toEqual([...turn(4), 'question 5'])
  })

  it('is not misled by a prompt that has as many messages as the conversation', async () => {
    const other: Processor = {
      id: 'other',
      processLLMRequest({ prompt }) {
        const question = structuredClone(prompt.at(-1)!)
        const more = Array.from({ length: 4 }, () => ({ role: 'assistant' as const, content: [] }))
        return { prompt: [...prompt.slice(4, -1), question, ...more] }
      },
    }
    expect((await said({ turns: 1 }, {}, [other])).at(-1)).toBe('question 5')
    expect(await said({ turns: 1 }, {}, [other])).toHaveLength(13)
  })

  it('leaves all in where it does not find the question of the run', async () => {
    const rewritten: Processor = {
      id: 'rewritten',
      processLLMRequest: ({ prompt }) => ({
        prompt: [
          ...prompt.slice(0, -1),
          { role: 'user', content: [{ type: 'text', text: 'question 5' }] },
          { role: 'user', content: [{ type: 'text', text: 'question 6' }] },
        ],
      }),
    }
    expect(await said({ turns: 1 }, {}, [rewritten])).toHaveLength(17)
  })

  it('leaves an empty conversation alone', async () => {
    expect(await said({ turns: 1 }, { messageList: new MessageList().add('question 1', 'input') })).toEqual([
      'question 1',
    ])
  })

  it('needs a number', async () => {
    await expect(loadBuiltin(['sliding-window', { turns: -1 }])).rejects.toThrow(BuiltinError)
    expect((await loadBuiltin('sliding-window')).id).toBe('sliding-window')
  })
})
