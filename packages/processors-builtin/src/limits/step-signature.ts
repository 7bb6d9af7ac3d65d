// A step as a short text: two steps with the same one called the same tools with the same inputs, and got the same.
import type { StepResult } from '@lockstep/processors'

/** What a step did: its calls alone, and its calls with what came of them. */
export interface StepSignature {
  readonly calls: string
  readonly outcomes: string
  /** The tools that were called. */
  readonly tools: readonly string[]
}

/** Gives the signature of a step; nothing for one without calls of tools that count. */
export function signatureOf(step: StepResult, ignored: readonly string[]): StepSignature | undefined {
  const calls = step.toolCalls.filter(({ toolName }) => !ignored.includes(toolName))
  if (calls.length === 0) return undefined
  const outcomes = new Map<string, unknown>([
    ...step.toolResults.map(({ toolCallId, output }) => [toolCallId, { output: output as unknown }] as const),
    ...step.toolErrors.map(({ toolCallId, error }) => [toolCallId, { error: String(error) }] as const),
  ])
  const called = calls.map(({ toolName, input }) => `${toolName} ${canonicalJson(input)}`)
  const got = calls.map(({ toolCallId }, index) => `${called[index]} ${canonicalJson(outcomes.get(toolCallId))}`)
  return {
    calls: digestOf(called.sort().join('\n')),
    outcomes: digestOf(got.sort().join('\n')),
    tools: [...new Set(calls.map(({ toolName }) => toolName))],
  }
}

/** JSON in which the order of properties does not matter. */
function canonicalJson(value: unknown): string {
  const sorted = (_name: string, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item
  return JSON.stringify(value, sorted) ?? 'undefined'
}

/** Sixty-four bits of the text (two runs in the manner of FNV-1a): equal for equal texts, and hardly for others. */
function digestOf(text: string): string {
  let one = 0x811c9dc5
  let other = 0x9dc5811c
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    one = Math.imul(one ^ unit, 0x01000193)
    other = Math.imul(other ^ unit, 0x85ebca6b)
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36)
}
