// Processors that are wrong in the ways in which people get them wrong, each with the law that is meant to catch it.
import type { Chunk, Processor } from '@lockstep/processors'
import { answeringModel, type ContractOptions, type LawName } from '@lockstep/testing'
import { wordGuard } from './right-processors.ts'

export interface BrokenProcessor {
  readonly mistake: string
  readonly law: LawName
  readonly make: () => Processor
  readonly options?: ContractOptions
}

const withText = (part: Chunk, text: string): Chunk =>
  ({ ...part, payload: { ...(part as { readonly payload: object }).payload, text } }) as Chunk

const onText = (change: (text: string) => string): Pick<Processor, 'processOutputStream'> => ({
  processOutputStream: ({ part }) => (part.type === 'text-delta' ? withText(part, change(part.payload.text)) : part),
})

type TextDelta = Extract<Chunk, { readonly type: 'text-delta' }>

/** Holds the last characters of a text, and does with them what it is told. */
function holding(flush?: Processor<'held', unknown, { held: string; id: string }>['flush']): Processor {
  const processor: Processor<'held', unknown, { held: string; id: string }> = {
    id: 'held',
    processOutputStream({ part, state }) {
      if (part.type !== 'text-delta') return part
      const all = (state.held ?? '') + part.payload.text
      state.held = all.slice(-4)
      state.id = part.payload.id
      return all.length > 4 ? withText(part, all.slice(0, -4)) : null
    },
  }
  return (flush ? { ...processor, flush } : processor) as Processor
}

const letGo: Processor<'held', unknown, { held: string; id: string }>['flush'] = ({ state, runId }) => {
  const { held = '', id = '' } = state
  state.held = ''
  return held === ''
    ? undefined
    : ({ type: 'text-delta', runId, from: 'AGENT', payload: { id, text: held } } as TextDelta)
}

function oneBuffer(): Processor<'one-buffer', unknown, { held: string }> {
  return {
    id: 'one-buffer',
    processOutputStream({ part, state }) {
      if (part.type !== 'text-delta' && part.type !== 'reasoning-delta') return part
      const { held = '' } = state
      state.held = part.payload.text
      return withText(part, held)
    },
    flush({ state, blockId = '', runId }) {
      const { held: text = '' } = state
      state.held = ''
      return { type: 'text-delta', runId, from: 'AGENT', payload: { id: blockId, text } }
    },
  }
}

const noJSON = (value: unknown): Processor => ({
  id: 'no-json',
  processOutputStep: ({ state }) => void (state['seen'] = value),
})

const secrets = ['My secret is a secret.']
const refusing = ['I am sorry.']

export const brokenProcessors: readonly BrokenProcessor[] = [
  {
    mistake: 'does nothing with what it is given',
    law: 'acts',
    make: () => ({ id: 'idle', processOutputStream: ({ part }) => part }),
  },
  {
    mistake: 'looks for a word in each chunk alone',
    law: 'any-cut',
    make: () => ({ id: 'per-delta', ...onText(text => text.replaceAll('secret', '[removed]')) }),
    options: { texts: secrets },
  },
  {
    mistake: 'trims each chunk',
    law: 'any-cut',
    make: () => ({ id: 'trims', ...onText(text => text.trim()) }),
  },
  {
    mistake: 'takes half of a surrogate pair for dirt',
    law: 'any-cut',
    make: () => ({ id: 'cleaner', ...onText(text => text.replaceAll(/\p{Surrogate}/gu, '')) }),
  },
  {
    mistake: 'counts chunks instead of characters',
    law: 'any-cut',
    make: () => ({
      id: 'max-chunks',
      processOutputStream: ({ part, streamParts }) =>
        streamParts.length > 20 && part.type === 'text-delta' ? null : part,
    }),
  },
  {
    mistake: 'decides in the middle of the stream by what has come so far',
    law: 'any-cut',
    make: () => ({
      id: 'early-judge',
      processOutputStream({ part, abort }) {
        if (part.type === 'text-delta' && part.payload.text === 'sorry') abort('No.')
        return part
      },
    }),
    options: { scripts: [[{ text: 'sorry' }]] },
  },
  {
    mistake: 'shows another text than its author says',
    law: 'any-cut',
    make: () => wordGuard(),
    options: { texts: [{ text: 'a secret', shown: 'a ******' }] },
  },
  { mistake: 'never lets go of the last characters', law: 'tail-at-finish', make: () => holding() },
  {
    mistake: 'lets go only when enough has come together',
    law: 'tail-at-finish',
    make: () => holding(args => ((args.state.held ?? '').length > 4 ? letGo(args) : undefined)),
  },
  {
    mistake: 'lets go at the end of a block and not at an abort',
    law: 'tail-at-abort',
    make: () => holding(args => (args.reason === 'abort' ? undefined : letGo(args))),
  },
  {
    mistake: 'drops the beginning of blocks',
    law: 'whole-blocks',
    make: () => ({ id: 'no-start', processOutputStream: ({ part }) => (part.type === 'text-start' ? null : part) }),
  },
  {
    mistake: 'drops the end of blocks',
    law: 'whole-blocks',
    make: () => ({ id: 'no-end', processOutputStream: ({ part }) => (part.type === 'text-end' ? null : part) }),
  },
  {
    mistake: 'adds a sentence after the end',
    law: 'whole-blocks',
    make: () => ({
      id: 'postscript',
      processOutputStream: ({ part }) =>
        part.type === 'text-end'
          ? [part, { ...part, type: 'text-delta', payload: { id: part.payload.id, text: ' Ask me more!' } }]
          : part,
    }),
  },
  {
    mistake: 'holds the text of all blocks in one place',
    law: 'blocks-apart',
    make: oneBuffer,
  },
  { mistake: 'keeps the held text of an attempt that was withdrawn', law: 'clean-retry', make: () => holding(letGo) },
  {
    mistake: 'keeps the text of a run in the closure',
    law: 'runs-apart',
    make: () => {
      let seen = ''
      return {
        id: 'closure',
        processOutputStream({ part }) {
          if (part.type !== 'text-delta') return part
          seen += part.payload.text
          return withText(part, seen.length > 60 ? '' : part.payload.text)
        },
      }
    },
  },
  {
    mistake: 'keeps in the closure which run it is in',
    law: 'runs-apart',
    make: () => {
      let input = ''
      return {
        id: 'current-run',
        processInput: ({ messages }) => void (input = JSON.stringify(messages[0]?.content.parts)),
        processOutputStream: ({ part }) =>
          part.type === 'text-delta' ? withText(part, part.payload.text.replaceAll('e', input)) : part,
      }
    },
  },
  {
    mistake: 'counts calls on `this`',
    law: 'runs-apart',
    make: () =>
      new (class {
        readonly id = 'counter'
        count = 0
        processToolCall() {
          return ++this.count > 3 ? { deny: 'Enough.' } : undefined
        }
      })(),
  },
  { mistake: 'keeps a Map in its state', law: 'json-state', make: () => noJSON(new Map([['a', 1]])) },
  { mistake: 'keeps a time in its state', law: 'json-state', make: () => noJSON(new Date(0)) },
  { mistake: 'keeps a function in its state', law: 'json-state', make: () => noJSON({ deep: [() => {}] }) },
  {
    mistake: 'keeps what it counts beside the state, by the id of the run',
    law: 'json-state',
    make: () => {
      const counts = new WeakMap<object, number>()
      return {
        id: 'beside',
        processToolCall({ state }) {
          counts.set(state, (counts.get(state) ?? 0) + 1)
          return counts.get(state)! > 1 ? { deny: 'Enough.' } : undefined
        },
      }
    },
  },
  {
    mistake: 'keeps a Map in its state while a person is asked',
    law: 'json-state',
    make: () => ({
      id: 'asks-with-map',
      processToolCall({ state, approval }) {
        state['calls'] = approval === undefined ? new Map() : 0
        return { ask: 'May I?' }
      },
    }),
  },
  {
    mistake: 'remembers beside the state what a person was asked',
    law: 'json-state',
    make: () => {
      const asked = new Set<string>()
      return {
        id: 'asks-beside',
        processToolCall({ toolCallId, approval }) {
          if (approval !== undefined && !asked.has(toolCallId)) return { deny: 'Nobody was asked.' }
          asked.add(toolCallId)
          return { ask: 'May I?' }
        },
      }
    },
  },
  {
    mistake: 'writes to a message in place',
    law: 'frozen-input',
    make: () => ({
      id: 'in-place',
      processInput({ messages }) {
        for (const message of messages) (message as { createdAt: string }).createdAt = 'now'
      },
    }),
  },
  {
    mistake: 'writes to a message in place, and would rather not fail',
    law: 'frozen-input',
    make: () => ({
      id: 'in-place-skipped',
      onError: 'skip',
      processOutputResult: ({ messages }) => void (messages as unknown[]).push('more'),
    }),
  },
  {
    mistake: 'writes to the prompt',
    law: 'frozen-input',
    make: () => ({ id: 'prompt-writer', processLLMRequest: ({ prompt }) => void prompt.pop() }),
  },
  {
    mistake: 'writes to the input of a call in the stream',
    law: 'frozen-input',
    make: () => ({
      id: 'chunk-writer',
      processOutputStream({ part }) {
        if (part.type === 'tool-call') Object.assign(part.payload.input as object, { seen: true })
        return part
      },
    }),
  },
  {
    mistake: 'catches what abort throws',
    law: 'thrown-refusal',
    make: () => ({
      id: 'swallows',
      processOutputStep({ text, abort }) {
        try {
          if (text.includes('sorry')) abort('Do not be sorry.')
        } catch {
          // It was only a warning.
        }
      },
    }),
    options: { texts: refusing },
  },
  {
    mistake: 'wraps what abort throws into an error of its own',
    law: 'thrown-refusal',
    make: () => ({
      id: 'wraps',
      async processOutputStep({ text, abort }) {
        await Promise.resolve()
        try {
          if (text.includes('sorry')) abort('Do not be sorry.')
        } catch (error) {
          throw new Error('The guard failed.', { cause: error })
        }
      },
    }),
    options: { texts: refusing },
  },
  {
    mistake: 'leaves a result without its call in the prompt',
    law: 'tool-pairs',
    make: () => ({
      id: 'orphans',
      processLLMRequest: ({ prompt }) => ({ prompt: prompt.filter(message => message.role !== 'assistant') }),
    }),
  },
  {
    mistake: 'leaves a call without its result in the prompt',
    law: 'tool-pairs',
    make: () => ({
      id: 'unanswered',
      processLLMRequest: ({ prompt }) => ({ prompt: prompt.filter(message => message.role !== 'tool') }),
    }),
  },
  {
    mistake: 'cuts a conversation of model messages between a call and its result',
    law: 'tool-pairs',
    make: () => ({
      id: 'cuts-pairs',
      processInputStep: ({ messageList }) => ({
        messages: messageList.get.all.model().filter(message => message.role !== 'tool'),
        scope: 'step',
      }),
    }),
  },
  {
    mistake: 'asks for another answer for ever',
    law: 'bounded-retries',
    make: () => ({
      id: 'stubborn',
      processOutputStep: ({ text, abort }) => void (text.includes('sorry') && abort('No.', { retry: true })),
    }),
    options: { texts: refusing },
  },
  {
    mistake: 'tries again after every failure for ever',
    law: 'bounded-retries',
    make: () => ({ id: 'hopeful', processAPIError: () => ({ retry: true }) }),
  },
  {
    mistake: 'asks its judge until it says yes',
    law: 'bounded-retries',
    make: () => ({
      id: 'asks-on',
      async processOutputStep({ text, callModel }) {
        if (text === '') return
        for (;;) if ((await callModel({ prompt: 'Is this fine?' })).text === 'yes') return
      },
    }),
  },
  {
    mistake: 'lets an answer pass when its judge is down',
    law: 'declared-errors',
    make: () => ({
      id: 'fails-open',
      async processOutputStep({ text, callModel, abort }) {
        const verdict = await callModel({ model: answeringModel('yes'), prompt: text }).catch(() => ({ text: 'yes' }))
        if (verdict.text !== 'yes') abort('No.')
      },
    }),
  },
  {
    mistake: 'says that a run can do without it, and ends it',
    law: 'declared-errors',
    make: () => ({
      id: 'ends-it',
      onError: 'skip',
      async processStepEnd({ writer, ...rest }) {
        await writer.custom({ type: 'data-step', data: 1 }).catch(() => (rest as { abort: () => never }).abort())
      },
    }),
  },
  {
    mistake: 'takes every chunk for one with a text',
    law: 'any-content',
    make: () => ({
      id: 'text-only',
      processOutputStream: ({ part }) => ((part as TextDelta).payload.text.length >= 0 ? part : null),
    }),
  },
  {
    mistake: 'takes every output of a tool for an object',
    law: 'any-content',
    make: () => ({
      id: 'object-only',
      onError: 'skip',
      processToolResult: ({ output, error }) =>
        error === undefined ? { output: Object.keys(output as object).length } : undefined,
    }),
  },
  {
    mistake: 'throws a dice',
    law: 'generate-is-stream',
    make: () => ({ id: 'dice', ...onText(() => `${Math.random()}`) }),
  },
  {
    mistake: 'waits for something, whatever happens',
    law: 'ends-when-aborted',
    make: () => ({
      id: 'deaf',
      async processOutputStep() {
        await new Promise(resolve => setTimeout(resolve, 25))
      },
    }),
  },
  {
    mistake: 'fails to clean up after an abort',
    law: 'ends-when-aborted',
    make: () => ({
      id: 'bad-cleaner',
      processRunEnd({ stopReason }) {
        if (stopReason === 'aborted') throw new Error('Nothing to clean up.')
      },
    }),
  },
]
