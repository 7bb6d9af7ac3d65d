// Notices that a run goes in circles, tells the model, takes its tools away, and ends it.
import type { Processor, ProcessorContext } from '@lockstep/processors'
import { BuiltinError } from '../errors.ts'
import { repetitionAtEnd, TextRepetition } from './repetition.ts'
import { signatureOf, type StepSignature } from './step-signature.ts'

/** What was noticed, and what was done about it. */
export interface Loop {
  /** The same calls with the same results · the same calls · calls of tools that do not exist · the same text. */
  readonly kind: 'same-outcome' | 'same-call' | 'unknown-tool' | 'same-text'
  /** How many steps one round has; 2 is a ping-pong. */
  readonly roundLength: number
  /** The tools that take part. */
  readonly tools: readonly string[]
  readonly action: 'nudge' | 'answer' | 'stop'
}

/** Options of the loop detector. */
export interface LoopDetectorOptions {
  /** How often the same calls with the same results are made before it is a loop; 3 when absent. */
  readonly repeats?: number
  /** How often the same calls are made, whatever they give; twice as often when absent. */
  readonly callRepeats?: number
  /** The most steps that one round may have; 4 when absent. */
  readonly maxRoundLength?: number
  /** How many steps the model is told about it before its tools are taken away; 1 when absent. */
  readonly nudges?: number
  /** How many characters of one passage again and again are too many; 1,000 when absent, none with `false`. */
  readonly textLength?: number | false
  /** Tools that may be asked the same again, since they wait for something. */
  readonly ignore?: readonly string[]
  readonly onLoop?: (loop: Loop) => void
}

/** What the loop detector keeps of a run. */
export interface LoopDetectorState {
  /** By step number; null for a step that called nothing. */
  steps: Seen[]
  /** How often a text was refused because it repeated itself. */
  textNudges: number
}

type Seen = StepSignature | null
type Context = Pick<ProcessorContext<Loop, LoopDetectorState>, 'state' | 'abort'>

/**
 * A processor that ends runs that go in circles: first it tells the model what it has noticed, then it asks for an answer
 * without tools, then it stops the run with a tripwire.
 *
 * *Order*: in `inputProcessors` it watches steps, in `outputProcessors` texts; the same one in both does both.
 * *Cost*: a digest of each step's calls and results; a few steps a character of text.
 * *Throws*: `invalid-limit`.
 */
export function loopDetector(options: LoopDetectorOptions = {}): Processor<'loop-detector', Loop, LoopDetectorState> {
  const { nudges = 1, textLength = 1_000, ignore = [], onLoop } = options
  const { repeats = 3, callRepeats = 2 * repeats, maxRoundLength = 4 } = options
  checkCounts({ repeats, callRepeats, maxRoundLength }, 1)
  checkCounts({ nudges, textLength: Number(textLength) }, 0)
  /** As many as the longest loop has that is not stopped yet. */
  const stepCount = Math.max(repeats, callRepeats) * maxRoundLength + nudges + 2
  const texts = new WeakMap<object, Map<string, TextRepetition>>()

  return {
    id: 'loop-detector',
    name: 'Loop detector',
    description: 'Nudges, then stops a model that makes the same calls or says the same text again and again.',

    processInputStep({ steps, tools, systemMessages, state, abort }) {
      const found = findLoop(lastSteps(state, steps.length, stepCount), { options, tools })
      if (!found) return
      const action = found.over < nudges ? 'nudge' : found.over === nudges ? 'answer' : 'stop'
      const { kind, roundLength, tools: called } = found
      const loop: Loop = { kind, roundLength, tools: called, action }
      onLoop?.(loop)
      if (action === 'stop') abort(descriptionOf(found, tools), { metadata: loop })
      const advice =
        action === 'nudge' ? 'Do something else, or answer with what you have.' : 'Answer with what you have.'
      const message = { role: 'system', content: `${descriptionOf(found, tools)} ${advice}` } as const
      return { systemMessages: [...systemMessages, message], ...(action === 'answer' ? { toolChoice: 'none' } : {}) }
    },

    processOutputStream({ part, state, abort }) {
      if (textLength === false || (part.type !== 'text-delta' && part.type !== 'reasoning-delta')) return part
      const { id, text } = part.payload
      const watches = texts.get(state) ?? new Map<string, TextRepetition>()
      texts.set(state, watches)
      const watch = watches.get(id) ?? new TextRepetition(textLength)
      watches.set(id, watch)
      const passage = watch.push(text)
      if (passage !== undefined) refuseText(passage, { state, abort })
      return part
    },

    flush({ blockId, state }) {
      if (blockId === undefined) texts.delete(state)
      else texts.get(state)?.delete(blockId)
    },

    processStepEnd({ step, state }) {
      const steps = (state.steps ??= [])
      steps[step.stepNumber] = signatureOf(step, ignore) ?? null
    },
  }

  function refuseText(passage: string, { state, abort }: Context): never {
    const count = (state.textNudges ?? 0) + 1
    state.textNudges = count
    const action = count <= nudges ? 'nudge' : 'stop'
    const loop: Loop = { kind: 'same-text', roundLength: 1, tools: [], action }
    onLoop?.(loop)
    const shown = JSON.stringify(passage.trim().slice(0, 80))
    return abort(`You wrote ${shown} again and again. Say it once, and go on.`, {
      retry: action === 'nudge',
      metadata: loop,
    })
  }
}

interface FoundLoop {
  readonly kind: Exclude<Loop['kind'], 'same-text'>
  readonly roundLength: number
  readonly tools: readonly string[]
  /** How many steps are in it. */
  readonly length: number
  /** How many steps ago it could first be noticed. */
  readonly over: number
}

/** The last steps; one that was withdrawn and is run again has been overwritten. */
function lastSteps(state: Partial<LoopDetectorState>, stepCount: number, count: number): readonly Seen[] {
  const first = Math.max(0, stepCount - count)
  return Array.from({ length: stepCount - first }, (_, index) => state.steps?.[first + index] ?? null)
}

function findLoop(
  steps: readonly Seen[],
  { options, tools }: { readonly options: LoopDetectorOptions; readonly tools: object },
): FoundLoop | undefined {
  const { repeats = 3, callRepeats = 2 * repeats, maxRoundLength = 4 } = options
  const unknown = steps.map(step => (step?.tools.every(name => !Object.hasOwn(tools, name)) ? 'unknown' : undefined))
  const looks = [
    { kind: 'unknown-tool', row: unknown, repeats, maxRoundLength: 1 },
    { kind: 'same-outcome', row: steps.map(step => step?.outcomes), repeats, maxRoundLength },
    { kind: 'same-call', row: steps.map(step => step?.calls), repeats: callRepeats, maxRoundLength },
  ] as const
  for (const { kind, row, ...rule } of looks) {
    const found = repetitionAtEnd(row, rule)
    if (!found) continue
    const { roundLength, length } = found
    const called = [...new Set(steps.slice(-roundLength).flatMap(step => step?.tools ?? []))]
    return { kind, roundLength, tools: called, length, over: length - rule.repeats * roundLength }
  }
  return undefined
}

function descriptionOf({ kind, roundLength, length, tools }: FoundLoop, known: object): string {
  const names = tools.join(', ')
  if (kind === 'unknown-tool') return `There is no tool ${names}. The tools are: ${Object.keys(known).join(', ')}.`
  const calls =
    roundLength === 1 ? `The same call of ${names} was made` : `The same ${roundLength} steps (${names}) were made`
  const results = kind === 'same-outcome' ? ', with the same result each time' : ''
  return `${calls} ${Math.floor(length / roundLength)} times in a row${results}.`
}

/** What is no number is never reached. */
function checkCounts(counts: { readonly [name: string]: number }, least: number): void {
  for (const [name, count] of Object.entries(counts))
    if (!(count >= least))
      throw new BuiltinError('invalid-limit', `${name} is ${String(count)}. Give a number, ${least} or more.`)
}
