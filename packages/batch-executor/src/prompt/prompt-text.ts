// The words of a prompt: what the model is told to read, what it has to say, and in which order.
import type { BatchPrompt, PromptSource } from './batch-prompt-builder.ts'
import { joinFields } from '../route/fields.ts'
import type { Line } from '../turn/line.ts'
import type { Plan } from '../turn/plan.ts'
import { askId } from '../reply/reply.ts'
import { isKnown, valueOf } from '../session/session.ts'

/** What of a prompt is settled before its words are. */
export type PromptOutline = Pick<BatchPrompt, 'routeId' | 'agenda' | 'others'> & {
  /** The message is read, and not only replied to. */
  readonly reads: boolean
}

/** Writes the instructions of a prompt. */
export function instructions<TData>(source: PromptSource<TData>, outline: PromptOutline): string {
  const { task } = source
  const how = outline.reads
    ? [reading(outline), ...(task === 'read' ? [] : [replying(outline)])]
    : [speaking(source.plan, outline.agenda)]
  const sections = [purpose(source), facts(source), news(source), ...how, ...(task === 'read' ? [] : [tone])]
  return sections.filter(text => text !== '').join('\n\n')
}

const tone =
  'The message is for the user: in their language, in plain words, without field names, ids or JSON. Acknowledge briefly what is new.'

function purpose<TData>({ route, others = [] }: PromptSource<TData>): string {
  const about = route && `You lead the user through "${route.title}". ${route.description ?? ''}`.trim()
  const choice = others.map(other => `- ${other.route.id}: "${other.route.title}". ${other.route.description ?? ''}`)
  const open = about === undefined ? 'You can lead the user through:' : 'The user may also turn to:'
  return [about, ...(choice.length === 0 ? [] : [open, ...choice.map(line => line.trim())])]
    .filter(line => line !== undefined)
    .join('\n')
}

function facts<TData>({ session, route, others = [] }: PromptSource<TData>): string {
  const routes = [...(route === undefined ? [] : [route]), ...others.map(other => other.route)]
  const fields = joinFields(routes.map(one => one.fields))
  const known = fields.names.filter(name => isKnown(session, fields, name))
  if (known.length === 0) return ''
  const lines = known.map(name => {
    const hidden = fields.get(name)?.sensitive
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

function reading({ routeId, others }: PromptOutline): string {
  const stay = routeId === null ? 'null when it is none of them' : `"${routeId}" unless the user turns to another`
  return [
    ...(others.length === 0 ? [] : [`Put the id of what the user wants now into \`route\`: ${stay}.`]),
    'Fill `values` from what the user says now: a field that the user states or corrects gets its value, every other field is null. Never guess.',
  ].join('\n')
}

function replying({ routeId, agenda, others }: PromptOutline): string {
  const isChoice = others.length > 0
  const own = routeId === null ? [] : agendaLines(agenda, isChoice ? routeId : null)
  const choices = others.flatMap(other => agendaLines(other.agenda, other.routeId))
  if (own.length + choices.length === 0) {
    return 'Then answer in `message`. There is nothing to ask: `asks` is null.'
  }
  const which = isChoice ? 'the agenda of that route' : 'the agenda'
  return [
    `Then go through ${which} in order, with the new values: say what is to be said, pass over each question that is now answered, and stop at the first one that is not. Put its id in \`asks\` and ask it in \`message\`. When no question is left, \`asks\` is null.`,
    ...own,
    ...choices,
  ].join('\n')
}

function agendaLines(agenda: readonly Line[], routeId: string | null): readonly string[] {
  if (agenda.length === 0) return []
  const lines = agenda.map((line, index) => {
    const what = line.type === 'ask' ? `ask [${askId(routeId, line.stepId)}] for ${line.fields.join(', ')}` : 'say'
    return `${index + 1}. ${what}: ${wording(line)}`
  })
  return [routeId === null ? 'Agenda:' : `Agenda of "${routeId}":`, ...lines]
}

function speaking(plan: Plan, agenda: readonly Line[]): string {
  const lines = agenda.map(line => `- ${line.type}: ${wording(line)}`)
  if (lines.length > 0) return ['Write `message`. It does this, in order, and asks nothing else:', ...lines].join('\n')
  return `Write \`message\`: ${closings[plan.stoppedReason] ?? 'answer the user and close. There is nothing to ask.'}`
}

const closings: Partial<Record<Plan['stoppedReason'], string>> = {
  max_asks_reached: 'say that this cannot go on for now, and ask nothing.',
  blocked: 'say that this cannot go on for now, and ask nothing.',
  no_route: 'answer the user and ask which of these it should be.',
}

function wording(line: Line): string {
  const declined = line.declined ? ' The user said no to this: ask what should be different.' : ''
  return (line.verbatim ? `exactly these words: ${JSON.stringify(line.prompt)}` : line.prompt) + declined
}
