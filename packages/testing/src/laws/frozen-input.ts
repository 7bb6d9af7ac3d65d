// frozen-input: what a hook is given is read, never written.
import { frozenWriteError } from '@lockstep/message-list'
import { isPromiseLike, ProcessorError, type Processor } from '@lockstep/processors'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { differenceOf } from '../run-outcome.ts'
import type { ProcessorRun } from '../run-with.ts'
import { scenariosOf } from '../scenario.ts'
import { watched, type HookArgs } from '../watched-processor.ts'

/** What is the processor's own, what grows while a hook waits, and what is no data. */
const notLookedAt: ReadonlySet<string> = new Set([
  'state',
  'streamParts',
  'messageList',
  'abort',
  'abortSignal',
  'requestContext',
  'writer',
  'tracingContext',
  'callModel',
  'model',
  'tools',
  'structuredOutput',
  'loopState',
])

/** Snapshots and arguments are never written to. */
export const frozenInput: ProcessorLaw = {
  name: 'frozen-input',
  meaning: 'never writes to what it is given: messages, chunks, prompts, inputs and outputs of tools',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const writes: string[] = []
      const run = await runScenario(noting(factory(), writes), scenario)
      const fact = writes[0] ?? frozenWriteIn(run)
      if (fact !== undefined)
        throw broken('frozen-input', {
          where: scenario.name,
          fact,
          cure: 'Return a changed copy (`{ ...part, payload: { ...part.payload, text } }`), or edit the conversation with `messageList.update(id, recipe)`.',
        })
    }
  },
}

function noting(processor: Processor, writes: string[]): Processor {
  return watched(processor, ({ hook, args, proceed }) => {
    const before = dataOf(args)
    const compare = () => {
      const difference = differenceOf(before, dataOf(args))
      if (difference !== undefined) writes.push(`${hook} wrote to its arguments: ${difference}`)
    }
    const result = proceed()
    if (isPromiseLike(result)) void Promise.resolve(result).then(compare, compare)
    else compare()
    return result
  })
}

function frozenWriteIn({ result }: ProcessorRun): string | undefined {
  const { error } = result
  if (ProcessorError.isInstance(error) && error.code === 'frozen-write') return `${error.hook} wrote to what is frozen`
  for (const { effect, hook } of result.trace.events)
    if (effect.type === 'skipped' && frozenWriteError(effect.error, hook)) return `${hook} wrote to what is frozen`
  return undefined
}

/** The data among the arguments, copied. */
function dataOf(args: HookArgs): unknown {
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => (notLookedAt.has(name) ? [] : [[name, copyOf(value, [])]])),
  )
}

function copyOf(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? 'a function' : value
  if (ancestors.includes(value)) return 'a cycle'
  const within = [...ancestors, value]
  if (Array.isArray(value)) return value.map(item => copyOf(item, within))
  const entries = Object.entries(value).map(([key, item]) => [key, copyOf(item, within)])
  return Object.fromEntries(value instanceof Error ? [...entries, ['message', value.message]] : entries)
}
