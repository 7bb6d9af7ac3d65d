// One prompt out of a batch: its agenda within the budget, the schema of the reply, and the instructions for both.
import type { Issue } from '../issue.ts'
import type { Line } from '../turn/line.ts'
import type { Plan } from '../turn/plan.ts'
import { instructions } from './prompt-text.ts'
import { joinFields } from '../route/fields.ts'
import { askId, replySchema, wireNames, type WireNames } from '../reply/reply.ts'
import { collectableFields, type Route } from '../route/route.ts'
import type { ValueChange } from '../session/set-values.ts'
import { isKnown, type Session } from '../session/session.ts'
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

/** A route and where it stands. */
export interface PlannedRoute<TData> {
  readonly route: Route<TData, never>
  readonly plan: Plan
}

/** What a prompt is made of: the route that the conversation is on, with its plan. */
export interface PromptSource<TData> {
  readonly session: Session<TData>
  /** Absent when the conversation is on none of its routes yet. */
  readonly route?: Route<TData, never>
  readonly plan: Plan
  /** The other routes that the user may turn to. */
  readonly others?: readonly PlannedRoute<TData>[]
  /** What the user said. Without it nothing is read, and the reply is only a message. */
  readonly input?: string
  /** Whether the message is read, or replied to, or both in one call. Absent: both. */
  readonly task?: 'both' | 'read' | 'reply'
  /** What has just changed, to be acknowledged. */
  readonly changes?: readonly ValueChange[]
  /** What has just been refused, to be explained. */
  readonly refused?: readonly Issue[]
}

/** What a reply may say and ask on one route, in order. */
export interface RouteAgenda {
  readonly routeId: string
  readonly agenda: readonly Line[]
  /** Questions that may follow and were left out for the budget. */
  readonly omitted: readonly string[]
}

/** One model call as a JSON value: instructions, the user's words, and the schema of the reply. */
export interface BatchPrompt {
  readonly system: string
  readonly input?: string
  readonly schema: JsonSchema
  /** The fields that the reply can fill, by their names on the wire. */
  readonly names: WireNames
  /** The route that the conversation is on. */
  readonly routeId: string | null
  /** What the reply may say and ask on that route, in order. */
  readonly agenda: readonly Line[]
  /** Questions that may follow there and were left out for the budget. */
  readonly omitted: readonly string[]
  /** The same of the other routes that the reply may choose. */
  readonly others: readonly RouteAgenda[]
  readonly tokenCount: number
}

/** Builds the one prompt of a batch. It holds no state: one builder serves any number of sessions. */
export class BatchPromptBuilder {
  readonly #budget: PromptBudget

  constructor(budget: PromptBudget = {}) {
    this.#budget = budget
  }

  /** Counts as the budget does. */
  countTokens(text: string): number {
    const { countTokens = (counted: string) => Math.ceil(counted.length / 4) } = this.#budget
    return countTokens(text)
  }

  /**
   * Builds the prompt for a plan.
   *
   * Known values go in as facts, sensitive ones without the value. Questions that are satisfied do not go in; the first
   * open one of each route does, and after it as many as the budget allows.
   *
   * *Throws* `no-json-schema` when a field to be read has a schema that cannot be sent.
   */
  build<TData>(source: PromptSource<TData>): BatchPrompt {
    const { maxSteps = Infinity, maxPromptTokens = Infinity } = this.#budget
    const plans = [source.plan, ...(source.others ?? []).map(({ plan }) => plan)]
    const questionCounts = plans.map(plan => plan.agenda.filter(line => line.type === 'ask').length)
    let size = Math.min(maxSteps, Math.max(...questionCounts))
    let prompt = this.#fill(source, size)
    while (prompt.tokenCount > maxPromptTokens && size > 1) prompt = this.#fill(source, --size)
    return prompt
  }

  #fill<TData>(source: PromptSource<TData>, size: number): BatchPrompt {
    const { plan, route, input, others = [], task = 'both' } = source
    const readable = readableFields(source)
    const chooses = input !== undefined && task !== 'reply' && others.length > 0
    const looksAhead = readable.length > 0 || chooses
    const { agenda, omitted } = looksAhead ? ahead(plan, size) : upToQuestion(plan)
    const agendas = chooses ? others.map(other => ({ routeId: other.route.id, ...ahead(other.plan, size) })) : []
    const names = wireNames(readable)
    const own = { routeId: route?.id ?? null, agenda, omitted, others: agendas }
    const schema = replySchema({
      fields: joinFields(routesOf(source).map(one => one.fields)),
      names,
      task,
      routeIds: chooses ? routesOf(source).map(one => one.id) : [],
      askIds: task === 'read' ? [] : askIds(own),
    })
    const system = instructions(source, { ...own, reads: looksAhead })
    const tokenCount =
      this.countTokens(system) + this.countTokens(JSON.stringify(schema)) + this.countTokens(input ?? '')
    return { system, ...(input !== undefined && { input }), schema, names, ...own, tokenCount }
  }
}

function routesOf<TData>({ route, others = [] }: PromptSource<TData>): readonly Route<TData, never>[] {
  return [...(route === undefined ? [] : [route]), ...others.map(other => other.route)]
}

function askIds({ routeId, agenda, others }: Pick<BatchPrompt, 'routeId' | 'agenda' | 'others'>): readonly string[] {
  const all = [...(routeId === null ? [] : [{ routeId, agenda }]), ...others]
  return all.flatMap(one =>
    one.agenda
      .filter(line => line.type === 'ask')
      .map(line => askId(others.length > 0 ? one.routeId : null, line.stepId)),
  )
}

/** The agenda up to a number of questions, and the questions beyond. Lines after the last question are cut with it. */
function ahead(plan: Plan, size: number): Pick<RouteAgenda, 'agenda' | 'omitted'> {
  const questions = plan.agenda.filter(line => line.type === 'ask')
  const first = questions[size]
  if (first === undefined) return { agenda: plan.agenda, omitted: [] }
  const last = questions[size - 1]
  const agenda = last === undefined ? [] : plan.agenda.slice(0, plan.agenda.indexOf(last) + 1)
  return { agenda, omitted: questions.slice(size).map(line => line.stepId) }
}

/** The agenda as far as it is certain, for a call that reads nothing. */
function upToQuestion(plan: Plan): Pick<RouteAgenda, 'agenda' | 'omitted'> {
  const question = plan.agenda.findIndex(line => line.type === 'ask')
  return { agenda: question < 0 ? plan.agenda : plan.agenda.slice(0, question + 1), omitted: [] }
}

/** The fields that a message may fill: unknown or open to correction; a confirmation only when it was asked for. */
function readableFields<TData>(source: PromptSource<TData>): readonly string[] {
  const { session, input, task } = source
  if (input === undefined || task === 'reply') return []
  const readable = routesOf(source).flatMap(route =>
    collectableFields(route).filter(name => {
      const field = route.fields.get(name)
      if (field?.confirms.length) {
        return session.asking?.routeId === route.id && session.asking.fields.includes(name)
      }
      return !(field?.locked && isKnown(session, route.fields, name))
    }),
  )
  return [...new Set<string>(readable)]
}
