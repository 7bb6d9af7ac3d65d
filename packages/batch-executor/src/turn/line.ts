// Something to say: a question of a step that collects, or the words of one that does not.
import { reasonOf } from '../errors.ts'
import type { RouteStep } from '../route/flow-step.ts'
import { valueOf } from '../session/session.ts'
import type { Walk } from '../route/walk.ts'

/** One line of an agenda. It is JSON. */
export interface Line {
  readonly type: 'say' | 'ask'
  readonly stepId: string
  /** The prompt of the step over the data of now. */
  readonly prompt: string
  /** What the question is about; empty for what is only said. */
  readonly fields: readonly string[]
  /** The prompt is to be sent word for word. */
  readonly verbatim: boolean
  /** The user answered "no" to this confirmation. */
  readonly declined?: true
}

/**
 * The line of a step that asks for these fields, or that only says something when there are none.
 *
 * A prompt that throws is reported; a question is then put in plain words, and something to say is left out.
 */
export function lineOf<TData>(
  walk: Walk<TData>,
  step: RouteStep<TData, never>,
  fields: readonly string[],
): Line | undefined {
  const type = step.collect?.length ? 'ask' : 'say'
  const prompt = promptOf(walk, step) ?? (type === 'ask' ? `Please tell me: ${fields.join(', ')}.` : undefined)
  if (prompt === undefined) return undefined
  const declined = fields.some(
    field => walk.route.fields.get(field)?.confirms.length && valueOf(walk.session, field) === false,
  )
  const verbatim = step.verbatim === true
  return { type, stepId: step.id, prompt, fields, verbatim, ...(declined && { declined }) }
}

function promptOf<TData>(walk: Walk<TData>, step: RouteStep<TData, never>): string | undefined {
  const { prompt, id: stepId } = step
  const report = (fact: string) => {
    walk.issues.push({ code: 'prompt-failed', stepId, message: `The prompt of step "${stepId}" ${fact}.` })
    return undefined
  }
  if (typeof prompt !== 'function') return prompt || undefined
  try {
    const text: unknown = prompt(walk.session.data)
    return typeof text === 'string' && text !== '' ? text : report(`returned no text`)
  } catch (thrown) {
    return report(`threw: ${reasonOf(thrown)}`)
  }
}
