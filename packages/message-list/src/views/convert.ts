// Messages as a model sees them, converted once: by segment, by message, and within a growing message by step.
import {
  convertStep,
  itemProvider,
  type Conversion,
  type ConvertedMessage,
  type StepContext,
  type Target,
} from './convert-step.ts'
import type { AgentMessage, MessagePart } from '../message.ts'
import { keepNewest, newestOf, sharedCountOf, type Made } from '../lineage.ts'
import { repair, type PromptRepair } from './prompt-repair.ts'
import type { Segment, Sequence } from '../segments.ts'

/**
 * A step of a message that was converted: what it and the steps before it came to. Versions of a message share the steps
 * that they share.
 */
interface Step {
  readonly previous: Step | undefined
  /** How many parts there are up to its end, and how many messages and repairs were made of them. */
  readonly partCount: number
  readonly messageCount: number
  readonly repairCount: number
  readonly reasonsInItems: boolean
  readonly hasFiles: boolean
}

/** A message with steps converted, with what another version of it goes on from. */
interface SteppedConversion extends Conversion {
  readonly last: Step | undefined
  /** What the steps gave, before it was finished. */
  readonly body: Conversion
}

/** Converts all messages of a sequence, segment by segment. What was converted before is not looked at again. */
export function convertSequence(sequence: Sequence, target: Target): readonly Conversion[] {
  const convert = target === 'prompt' ? promptOfSegment : modelMessagesOfSegment
  return sequence.segments.map(segment => segment.derive(target, convert))
}

const promptOfSegment = ({ messages }: Segment): Conversion => convertMessages(messages, 'prompt')
const modelMessagesOfSegment = ({ messages }: Segment): Conversion => convertMessages(messages, 'model')

/** Converts messages in order. */
export function convertMessages(messages: readonly AgentMessage[], target: Target): Conversion {
  return joined(messages.map(message => convertMessage(message, target)))
}

/** Converts the last message for the AI SDK, which goes on with calls of the last step that were asked about. */
export function convertOpenMessage(message: AgentMessage): Conversion {
  const context = contextOf(message, 'model')
  const { parts } = message.content
  const closed = convertMessage(message, 'model')
  const { last, body } = isStepped(closed) ? closed : converted(message, context, undefined)
  let step = last
  while (step !== undefined && step.messageCount === (step.previous ?? beginning).messageCount) step = step.previous
  if (step === undefined) return finished(message, body)
  const before = step.previous ?? beginning
  const { reasonsInItems } = last!
  const open = stepConversion(parts.slice(before.partCount, step.partCount), {
    ...context,
    reasonsInItems,
    isOpenEnd: true,
  })
  return finished(message, {
    messages: [...body.messages.slice(0, before.messageCount), ...open.messages],
    repairs: [...body.repairs.slice(0, before.repairCount), ...open.repairs, ...body.repairs.slice(step.repairCount)],
    hasFiles: body.hasFiles,
  })
}

/** Puts conversions together. */
function joined(pieces: readonly Conversion[]): Conversion {
  if (pieces.length === 1) return pieces[0]!
  const messages: ConvertedMessage[] = []
  const repairs: PromptRepair[] = []
  let hasFiles = false
  for (const piece of pieces) {
    for (const message of piece.messages) messages.push(message)
    for (const told of piece.repairs) repairs.push(told)
    hasFiles ||= piece.hasFiles
  }
  return { messages, repairs, hasFiles }
}

/** A message with steps is gone on from when it grows; most have none. */
function convertMessage(message: AgentMessage, target: Target): Conversion {
  const newest = newestOf<Conversion>(message, target)
  if (newest?.of === message) return newest.value
  const { parts } = message.content
  const context = contextOf(message, target)
  const conversion = parts.some(isDivider)
    ? converted(message, context, continues(message, newest) ? newest : undefined)
    : finished(message, stepConversion(parts, { ...context, reasonsInItems: parts.some(isReasoningItem) }))
  keepNewest(message, target, conversion)
  return conversion
}

/** Whether a message can go on from what was made of another version of it. */
function continues(message: AgentMessage, newest: Made<Conversion> | undefined): newest is Made<SteppedConversion> {
  return newest?.of.role === message.role && isStepped(newest.value)
}

function isStepped(conversion: Conversion): conversion is SteppedConversion {
  return 'last' in conversion
}

type MessageContext = Omit<StepContext, 'reasonsInItems'>

function contextOf(message: AgentMessage, target: Target): MessageContext {
  return { target, messageId: message.id, role: message.role === 'user' ? 'user' : 'assistant', isOpenEnd: false }
}

const beginning: Step = {
  previous: undefined,
  partCount: 0,
  messageCount: 0,
  repairCount: 0,
  reasonsInItems: false,
  hasFiles: false,
}

function converted(
  message: AgentMessage,
  context: MessageContext,
  earlier: Made<SteppedConversion> | undefined,
): SteppedConversion {
  const kept = earlier === undefined ? undefined : keptStep(message, earlier)
  const before = kept ?? beginning
  const rest = stepsOf(message.content.parts, before.partCount)
  const reasonsInItems = before.reasonsInItems || rest.some(step => step.some(isReasoningItem))
  if (earlier !== undefined && reasonsInItems !== (earlier.value.last ?? beginning).reasonsInItems)
    return converted(message, context, undefined)
  const pieces: Conversion[] = []
  let last = kept
  for (const step of rest) {
    const piece = stepConversion(step, { ...context, reasonsInItems })
    pieces.push(piece)
    last = stepAfter(last, step, piece)
  }
  const added = joined(pieces)
  const body = {
    messages: continued(earlier?.value.body.messages, before.messageCount, added.messages),
    repairs: continued(earlier?.value.body.repairs, before.repairCount, added.repairs),
    hasFiles: before.hasFiles || added.hasFiles,
  }
  return { ...finished(message, body), last, body }
}

function stepAfter(previous: Step | undefined, parts: readonly MessagePart[], piece: Conversion): Step {
  const { partCount, messageCount, repairCount, reasonsInItems, hasFiles } = previous ?? beginning
  return {
    previous,
    partCount: partCount + parts.length,
    messageCount: messageCount + piece.messages.length,
    repairCount: repairCount + piece.repairs.length,
    reasonsInItems: reasonsInItems || parts.some(isReasoningItem),
    hasFiles: hasFiles || piece.hasFiles,
  }
}

/** The first elements of what there was before, and what came after them. */
function continued<T>(before: readonly T[] | undefined, count: number, after: readonly T[]): readonly T[] {
  if (before === undefined || count === 0) return after
  const kept = count === before.length ? before : before.slice(0, count)
  return after.length === 0 ? kept : kept.concat(after)
}

/** The last step of an earlier version that this version has as well. A step that grew is none. */
function keptStep(message: AgentMessage, earlier: Made<SteppedConversion>): Step | undefined {
  const { parts } = message.content
  const common = sharedCountOf(message, earlier) ?? sharedStart(earlier.of.content.parts, parts)
  let step = earlier.value.last
  while (step !== undefined && step.partCount > common) step = step.previous
  return step?.partCount === common && !isClosed(parts, common) ? step.previous : step
}

function sharedStart(before: readonly unknown[], after: readonly unknown[]): number {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const [left, right] = [[...before], [...after]]
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  return start
}

/** Whether no part can come to the step that ends there. */
function isClosed(parts: readonly MessagePart[], end: number): boolean {
  const follows = parts[end]
  return follows === undefined || isDivider(follows) || parts[end - 1]?.type === 'steering-message'
}

/** Options of a whole message are those of its last part for a provider, so they go with the last piece of it. */
function finished(message: AgentMessage, body: Conversion): Conversion {
  const { messages, repairs, hasFiles } = body
  const { providerMetadata } = message.content
  const last = messages.at(-1)
  if (last === undefined) {
    const reason = 'The message was left out, because nothing in it is for a model.'
    return { messages, repairs: [...repairs, repair('empty-message', message.id, { reason })], hasFiles }
  }
  if (providerMetadata === undefined) return body
  return {
    messages: messages.with(-1, Object.freeze({ ...last, providerOptions: providerMetadata })),
    repairs,
    hasFiles,
  }
}

/** The steps from a part on. One begins at its `step-start`; a message that was put in between stands by itself. */
function stepsOf(parts: readonly MessagePart[], start: number): readonly (readonly MessagePart[])[] {
  const steps: MessagePart[][] = []
  let open: MessagePart[] | undefined
  for (let index = start; index < parts.length; index++) {
    const part = parts[index]!
    if (open === undefined || isDivider(part)) {
      open = []
      steps.push(open)
    }
    open.push(part)
    if (part.type === 'steering-message') open = undefined
  }
  return steps
}

function isDivider(part: MessagePart): boolean {
  return part.type === 'step-start' || part.type === 'steering-message'
}

function isReasoningItem(part: MessagePart): boolean {
  return (
    part.type === 'reasoning' &&
    part.providerMetadata !== undefined &&
    itemProvider(part.providerMetadata) !== undefined
  )
}

function stepConversion(parts: readonly MessagePart[], context: StepContext): Conversion {
  const [first] = parts
  return first?.type === 'steering-message'
    ? convertStep(first.parts, { ...context, role: 'user' })
    : convertStep(parts, context)
}
