// Stand-ins for the model: one that follows a script and remembers its prompts, one that reads perfectly.
import type { BatchPrompt, CallModel, Line } from '@lockstep/batch-executor'

/** Answers with the outputs given, one a call, and fails the test when it is called once more than that. */
export function scriptedModel(...outputs: readonly unknown[]): CallModel & { readonly prompts: BatchPrompt[] } {
  const prompts: BatchPrompt[] = []
  const call: CallModel = prompt => {
    prompts.push(prompt)
    if (prompts.length > outputs.length) throw new Error(`unscripted call ${prompts.length}`)
    const output = outputs[prompts.length - 1]
    if (output instanceof Error) throw output
    return output
  }
  return Object.assign(call, { prompts })
}

const messageOf = (lines: readonly Line[]) => lines.map(line => line.prompt).join(' ')

/**
 * Understands what was said without fail: fills what it may fill, then says and asks what the agenda wants of it.
 *
 * `known` tells what is known after the message, which a model sees in the facts and the user's words; `wants` is the
 * route that the user turns to, `null` for the one that the conversation is on.
 */
export function perfectModel(
  said: Readonly<Record<string, unknown>>,
  known: (field: string) => boolean,
  wants: string | null = null,
): CallModel & { readonly prompts: BatchPrompt[] } {
  const prompts: BatchPrompt[] = []
  const call: CallModel = prompt => {
    prompts.push(prompt)
    const { names, others, routeId, schema } = prompt
    const chosen = wants ?? routeId
    const agenda = others.find(other => other.routeId === chosen)?.agenda ?? prompt.agenda
    const values = Object.fromEntries(
      Object.entries(names).map(([name, field]) => [name, Object.hasOwn(said, field) ? said[field] : null]),
    )
    // Nothing to read: the agenda is what is to be said, to the last line.
    if (!(schema['required'] as readonly string[]).includes('asks')) {
      return Object.keys(names).length > 0 || others.length > 0
        ? { route: chosen, values }
        : { message: messageOf(prompt.agenda) }
    }
    const next = agenda.findIndex(line => line.type === 'ask' && line.fields.some(field => !known(field)))
    const reached = next < 0 ? agenda : agenda.slice(0, next + 1)
    const spoken = reached.filter((line, index) => line.type === 'say' || index === next)
    const step = agenda[next]?.stepId
    const asks = step === undefined ? null : others.length > 0 ? `${chosen}/${step}` : step
    return { ...(others.length > 0 && { route: chosen }), values, asks, message: messageOf(spoken) }
  }
  return Object.assign(call, { prompts })
}
