// Tells the provider where prompts stay the same, so that it reads them from its cache: at most four places.
import type { Processor, ProviderOptions, StepSettings } from '@lockstep/processors'
import { CacheMark, dialectOf, type CacheLifetime } from './cache-mark.ts'
import type { Prompt } from '../context-window/token-counter.ts'

export type { CacheLifetime } from './cache-mark.ts'

/** Options of the breakpoints. */
export interface PromptCacheOptions {
  /** How long the provider keeps what it has cached; `'5m'` when absent. */
  readonly lifetime?: CacheLifetime
  /** The mark of a provider that is not known here: `{ name: { … } }`. */
  readonly mark?: ProviderOptions
}

/** What the breakpoints keep of a run. */
export interface PromptCacheState {
  /** How many system messages the run began with: what is added later comes and goes. */
  systemCount: number
}

/** More are refused, or passed over, by those that take any. */
const maxMarkCount = 4

/**
 * A processor that marks where prompts stay the same: after the tools, after the instructions, where the prompt of the step
 * before ended, and at its end. Marks that are there already count, and stay.
 *
 * *Order*: last in `inputProcessors`, before a response cache.
 */
export function promptCache(options: PromptCacheOptions = {}): Processor<'prompt-cache', unknown, PromptCacheState> {
  const { lifetime = '5m', mark } = options
  const marks = new Map<string, CacheMark>()
  const other = mark && new CacheMark(mark)
  const markFor = (model: StepSettings['model']): CacheMark | undefined => {
    const dialect = dialectOf(model)
    if (dialect === undefined) return other
    const known = marks.get(dialect) ?? CacheMark.of(dialect, lifetime)
    marks.set(dialect, known)
    return known
  }

  return {
    id: 'prompt-cache',
    name: 'Prompt cache',
    description: 'Tells the provider which beginnings of the prompt to cache.',

    processInputStep({ model, tools, activeTools, messageList }) {
      const found = markFor(model)
      const last = found && lastOf({ tools, activeTools })
      if (found === undefined || last === undefined) return
      const used = countIn({ tools, activeTools }, messageList.get.all.prompt(), found)
      if (used >= maxMarkCount || found.isOn(tools[last]!)) return
      return { tools: found.onToolOf(tools, last) }
    },

    processLLMRequest({ model, prompt, tools, activeTools, state }) {
      const found = markFor(model)
      if (found === undefined) return
      const head = prompt.findIndex(({ role }) => role !== 'system')
      const systemCount = head === -1 ? prompt.length : head
      state.systemCount ??= systemCount
      const left = maxMarkCount - countIn({ tools, activeTools }, prompt, found)
      const places = [...endsOf(prompt), Math.min(state.systemCount, systemCount) - 1]
      const chosen = inOrder(places).filter(place => prompt[place] !== undefined && found.countIn(prompt[place]) === 0)
      const marked = new Set(chosen.slice(0, Math.max(0, left)))
      if (marked.size === 0) return
      return { prompt: prompt.map((message, place) => (marked.has(place) ? found.onMessage(message) : message)) }
    },
  }
}

type OfferedTools = Pick<StepSettings, 'tools' | 'activeTools'>

function namesOf({ tools, activeTools }: OfferedTools): readonly string[] {
  return (activeTools ?? Object.keys(tools)).filter(name => Object.hasOwn(tools, name))
}

/** The last tool that can have a mark: those of providers have none. */
function lastOf(offered: OfferedTools): string | undefined {
  return namesOf(offered).findLast(name => offered.tools[name]!.type !== 'provider')
}

function countIn(offered: OfferedTools, prompt: Prompt, mark: CacheMark): number {
  const onTools = namesOf(offered).filter(name => mark.isOn(offered.tools[name]!)).length
  return prompt.reduce((sum, message) => sum + mark.countIn(message), onTools)
}

/** Where the prompt ends, and where the one of the step before ended: what it had is in the cache up to there. */
function endsOf(prompt: Prompt): readonly number[] {
  const isAnswer = (place: number) => prompt[place]?.role === 'assistant'
  let end = prompt.length - 1
  while (isAnswer(end)) end--
  let before = end
  while (before >= 0 && !isAnswer(before)) before--
  while (isAnswer(before)) before--
  return [end, before].filter(place => place >= 0 && prompt[place]!.role !== 'system')
}

/** The end comes first, then the instructions, then the end before: when there is no room for all. */
function inOrder([end, ...rest]: readonly number[]): readonly number[] {
  return end === undefined ? [] : [...new Set([end, ...rest.toReversed()])]
}
