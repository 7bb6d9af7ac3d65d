// What the numbers of a run may be.
import { LoopError } from '../errors.ts'
import type { RunLoopOptions } from './options.ts'

const lowest = { maxSteps: 1, maxProcessorRetries: 0, toolConcurrency: 1 } as const

/** Checks the numbers. Throws: `invalid-option`, with the value and what it may be. */
export function checkOptions(options: RunLoopOptions): void {
  for (const name of ['maxSteps', 'maxProcessorRetries', 'toolConcurrency'] as const) {
    const value = options[name]
    if (value === undefined || value === Infinity || (Number.isInteger(value) && value >= lowest[name])) continue
    throw new LoopError(
      'invalid-option',
      `${name} is ${value}. Give a whole number from ${lowest[name]} on, Infinity, or leave it out.`,
    )
  }
  const limits =
    typeof options.timeout === 'object'
      ? { ...options.timeout, ...options.timeout.tools, tools: undefined }
      : { timeout: options.timeout }
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (typeof value === 'number' && value > 0 && value < maxTimerMs)) continue
    throw new LoopError(
      'invalid-option',
      `The time limit ${name} is ${String(value)}. Give milliseconds above 0 and below ${maxTimerMs}, or leave it out.`,
    )
  }
}

/** Timers count in 32 bits: what is longer would fire at once. */
const maxTimerMs = 2 ** 31
