// One prompt out of a batch: known values as facts, what is to be said, the open questions, and what to read.
import type { Issue } from './issue.ts'
import type { Line } from './line.ts'
import type { Plan } from './plan.ts'
import { replySchema, wireNames, type WireNames } from './reply.ts'
import { collectableFields, type Route } from './route.ts'
import type { ValueChange } from './set-values.ts'
import { isKnown, valueOf, type Session } from './session.ts'
import type { JsonSchema } from './wire-schema.ts'

/** How much one prompt may hold. */
export interface PromptBudget {
  /** How many open questions one prompt looks ahead to. Absent: any number. */
  readonly maxSteps?: number
  /** Questions that may follow are left out until the prompt fits; facts and the first question stay. */
  readonly maxPromptTokens?: number
  /** Absent: a quarter of the characters. */
  readonly countTokens?: (text: string) => number
}

/** What a prompt is made of. */
export interface PromptSource<TData> {
  readonly session: Session<TData>
  readonly route: Route<TData, never>
  readonly plan: Plan
  /** What the user said. Without it nothing is read, and the reply is only a message. */
  readonly input?: string
  /** The message was read already: only the words of the reply are asked for. */
  readonly replyOnly?: boolean
  /** What has just changed, to be acknowledged. */
  readonly changes?: readonly ValueChange[]
  /** What has just been refused, to be explained. */
  readonly refused?: readonly Issue[]
}

/** One model call as a JSON value: instructions, the user's words, and the schema of the reply. */
export interface BatchPrompt {
  readonly system: string
  readonly input?: string
  readonly schema: JsonSchema
  /** The fields that the reply can fill, by their names on the wire. */
  readonly names: WireNames
  /** What the reply may say and ask, in order. */
  readonly agenda: readonly Line[]
  /** Questions that may follow and were left out for the budget. */
  readonly omitted: readonly string[]
  readonly tokenCount: number
}

/** Builds the one prompt of a batch. It holds no state: one builder serves any number of sessions. */
export class BatchPromptBuilder {
  readonly #budget: PromptBudget

  constructor(budget: PromptBudget = {}) {
    this.#budget = budget
  }

  /**
   * Builds the prompt for a plan.
   *
   * Known values go in as facts, sensitive ones without the value. Questions that are satisfied do not go in; the first
   * open one does, and after it as many as the budget allows.
   *
   * *Throws* `no-json-schema` when a field to be read has a schema that cannot be sent.
   */
  build<TData>(source: PromptSource<TData>): BatchPrompt {
    const { maxSteps = Infinity, maxPromptTokens = Infinity } = this.#budget
    const questionCount = source.plan.agenda.filter(line => line.type === 'ask').length
    let size = Math.min(maxSteps, questionCount)
    let prompt = this.#fill(source, size)
    while (prompt.tokenCount > maxPromptTokens && size > 1) prompt = this.#fill(source, --size)
    return prompt
  }

  #fill<TData>(source: PromptSource<TData>, size: number): BatchPrompt {
    const { countTokens = text => Math.ceil(text.length / 4) } = this.#budget
    const { route, input } = source
    const reading = readable(source)
    const names = wireNames(reading)
    const { agenda, omitted } = reading.length > 0 ? window(source.plan, size) : upToQuestion(source.plan)
    const questions = agenda.filter(line => line.type === 'ask').map(line => line.stepId)
    const schema = replySchema(route.fields, names, questions)
    const system = instructions(source, agenda, reading)
    const tokenCount = countTokens(system) + countTokens(JSON.stringify(schema)) + countTokens(input ?? '')
    return { system, ...(input !== undefined && { input }), schema, names, agenda, omitted, tokenCount }
  }
}

/** The agenda up to a number of questions, and the questions beyond. Lines after the last question are cut with it. */
function window(plan: Plan, size: number): { readonly agenda: readonly Line[]; readonly omitted: readonly string[] } {
  const questions = plan.agenda.filter(line => line.type === 'ask')
  const first = questions[size]
  if (first === undefined) return { agenda: plan.agenda, omitted: [] }
  const last = questions[size - 1]
  const agenda = last === undefined ? [] : plan.agenda.slice(0, plan.agenda.indexOf(last) + 1)
  return { agenda, omitted: questions.slice(size).map(line => line.stepId) }
}

/** The agenda as far as it is certain, for a call that reads nothing. */
function upToQuestion(plan: Plan): { readonly agenda: readonly Line[]; readonly omitted: readonly string[] } {
  const question = plan.agenda.findIndex(line => line.type === 'ask')
  return { agenda: question < 0 ? plan.agenda : plan.agenda.slice(0, question + 1), omitted: [] }
}

/** The fields that a message may fill: unknown or open to correction; a confirmation only when it was asked for. */
function readable<TData>({ session, route, input, replyOnly }: PromptSource<TData>): readonly string[] {
  if (input === undefined || replyOnly) return []
  return collectableFields(route).filter(name => {
    const field = route.fields.get(name)
    if (field?.confirms.length) return session.asking?.fields.includes(name) === true
    return !(field?.locked && isKnown(session, route.fields, name))
  })
}

function instructions<TData>(source: PromptSource<TData>, agenda: readonly Line[], reading: readonly string[]): string {
  const { route } = source
  const about = `You lead the user through "${route.title}". ${route.description ?? ''}`.trim()
  const how = reading.length > 0 ? readAndReply(agenda) : replyOnly(source.plan, agenda)
  const tone =
    'The message is for the user: in their language, in plain words, without field names, ids or JSON. Acknowledge briefly what is new.'
  return [about, facts(source), news(source), how, tone].filter(text => text !== '').join('\n\n')
}

function facts<TData>({ session, route }: PromptSource<TData>): string {
  const known = route.fields.names.filter(name => isKnown(session, route.fields, name))
  if (known.length === 0) return ''
  const lines = known.map(name => {
    const hidden = route.fields.get(name)?.sensitive
    return `- ${name}: ${hidden ? 'known, not shown' : JSON.stringify(valueOf(session, name))}`
  })
  return ['Known facts, never to be asked for again:', ...lines].join('\n')
}

function news<TData>({ changes = [], refused = [] }: PromptSource<TData>): string {
  const corrected = changes.filter(({ type }) => type === 'corrected').map(({ field }) => `- ${field} was corrected`)
  const cleared = changes.flatMap(change =>
    change.type === 'cleared' ? [`- ${change.field} no longer holds, because ${change.because} changed`] : [],
  )
  const lines = [...corrected, ...cleared, ...refused.map(({ message }) => `- ${message}`)]
  return lines.length === 0 ? '' : ['Just now, to be mentioned:', ...lines].join('\n')
}

function readAndReply(agenda: readonly Line[]): string {
  const lines = agenda.map((line, index) => {
    const what = line.type === 'ask' ? `ask [${line.stepId}] for ${line.fields.join(', ')}` : 'say'
    return `${index + 1}. ${what}: ${wording(line)}`
  })
  return [
    'First fill `values` from what the user says now: a field that the user states or corrects gets its value, every other field is null. Never guess.',
    agenda.length === 0
      ? 'Then answer in `message`. There is nothing to ask: `asks` is null.'
      : 'Then go through the agenda in order, with the new values: say what is to be said, pass over each question that is now answered, and stop at the first one that is not. Put its id in `asks` and ask it in `message`. When no question is left, `asks` is null.',
    ...(lines.length === 0 ? [] : ['Agenda:', ...lines]),
  ].join('\n')
}

function replyOnly(plan: Plan, agenda: readonly Line[]): string {
  const lines = agenda.map(line => `- ${line.type}: ${wording(line)}`)
  if (lines.length > 0) return ['Write `message`. It does this, in order, and asks nothing else:', ...lines].join('\n')
  const stuck = plan.stoppedReason === 'max_asks_reached' || plan.stoppedReason === 'blocked'
  return stuck
    ? 'Write `message`: say that this cannot go on for now, and ask nothing.'
    : 'Write `message`: answer the user and close. There is nothing to ask.'
}

function wording(line: Line): string {
  const declined = line.declined ? ' The user said no to this: ask what should be different.' : ''
  return (line.verbatim ? `exactly these words: ${JSON.stringify(line.prompt)}` : line.prompt) + declined
}
