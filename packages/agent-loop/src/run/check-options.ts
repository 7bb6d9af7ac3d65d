// What the options of a run may be. One that means nothing would be as good as none: a guard that is not there.
import { LoopError } from '../errors.ts'
import type { RunLoopOptions } from './options.ts'

interface Rule {
  readonly names: readonly (keyof RunLoopOptions)[]
  readonly holds: (value: unknown) => boolean
  readonly cure: string
}

const rules: readonly Rule[] = [
  { names: ['maxSteps', 'toolConcurrency'], holds: isCountFrom(1), cure: 'a whole number from 1 on, Infinity' },
  { names: ['maxProcessorRetries'], holds: isCountFrom(0), cure: 'a whole number from 0 on, Infinity' },
  { names: ['hold'], holds: value => value === 'step' || value === 'run', cure: "'step', 'run'" },
  {
    names: ['stopWhen'],
    holds: value => [value].flat().every(isFunction),
    cure: 'a condition such as `hasToolCall(name)`, an array of them (for a number of steps there is maxSteps)',
  },
  {
    names: ['structuredOutput'],
    holds: value => isObject(value) && value['schema'] !== undefined,
    cure: '`{ schema }`, with a schema of zod for instance',
  },
  {
    names: ['abortSignal'],
    holds: value => isObject(value) && isFunction(value['addEventListener']),
    cure: 'the `signal` of an AbortController',
  },
  { names: ['tools'], holds: isObject, cure: 'an object of tools by their names' },
  {
    names: ['onChunk', 'onStepFinish', 'onFinish', 'onError', 'onAbort', 'prepareStep', 'repairToolCall', 'generateId'],
    holds: isFunction,
    cure: 'a function',
  },
]

/** Checks what types cannot, or were not asked to. Throws: `invalid-option`, with the value and what it may be. */
export function checkOptions(options: RunLoopOptions): void {
  for (const { names, holds, cure } of rules)
    for (const name of names) {
      const value: unknown = options[name]
      if (value !== undefined && !holds(value))
        throw invalid(`${name} is ${shown(value)}. Give ${cure}, or leave it out.`)
    }
  for (const [name, tool] of Object.entries(options.tools ?? {}))
    if (!isObject(tool)) throw invalid(`The tool ${name} is ${shown(tool)}. Give \`tool({ inputSchema, execute })\`.`)
  const limits =
    typeof options.timeout === 'object'
      ? { ...options.timeout, ...options.timeout.tools, tools: undefined }
      : { timeout: options.timeout }
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (typeof value === 'number' && value > 0 && value < maxTimerMs)) continue
    throw invalid(
      `The time limit ${name} is ${String(value)}. Give milliseconds above 0 and below ${maxTimerMs}, or leave it out.`,
    )
  }
}

/** A value in the words of an error. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return `a function (${value.name || 'unnamed'})`
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (isObject(value)) return `an object with the keys ${JSON.stringify(Object.keys(value))}`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** Timers count in 32 bits: what is longer would fire at once. */
const maxTimerMs = 2 ** 31

function isCountFrom(lowest: number): (value: unknown) => boolean {
  return value => value === Infinity || (Number.isInteger(value) && (value as number) >= lowest)
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function invalid(message: string): LoopError {
  return new LoopError('invalid-option', message)
}
