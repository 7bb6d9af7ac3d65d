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
import { repair, type PromptRepair } from './prompt-repair.ts'
import type { Sequence } from '../segments.ts'

/** A step of a message that was converted: where its parts end, and what was made of them. */
interface Step {
  readonly end: number
  readonly messageEnd: number
  readonly repairEnd: number
  /** Whether it, or a step before it, reasons in items. */
  readonly reasonsInItems: boolean
  /** Whether it, or a step before it, has files. */
  readonly hasFiles: boolean
}

/** A message converted, with what the next version of it goes on from. */
interface MessageConversion extends Conversion {
  readonly parts: readonly MessagePart[]
  readonly steps: readonly Step[]
  /** What the steps gave, before it was finished. */
  readonly body: Conversion
}

interface Caches {
  readonly messages: WeakMap<AgentMessage, Conversion>
  /** The newest version of a message, found by its first part, which its versions share. */
  readonly newest: WeakMap<MessagePart, MessageConversion>
}

const caches: Readonly<Record<Target, Caches>> = {
  prompt: { messages: new WeakMap(), newest: new WeakMap() },
  model: { messages: new WeakMap(), newest: new WeakMap() },
}

/** Converts all messages of a sequence, segment by segment. What was converted before is not looked at again. */
export function convertSequence(sequence: Sequence, target: Target): readonly Conversion[] {
  return sequence.segments.map(segment => segment.derive(target, () => convertMessages(segment.messages, target)))
}

/** Converts messages in order. */
export function convertMessages(messages: readonly AgentMessage[], target: Target): Conversion {
  return joined(messages.map(message => convertMessage(message, target)))
}

/** Converts the last message for the AI SDK, which goes on with calls of the last step that were asked about. */
export function convertOpenMessage(message: AgentMessage): Conversion {
  const context = contextOf(message, 'model')
  const { parts, steps, body } = converted(message, context, undefined)
  const last = steps.findLastIndex(({ messageEnd }, index) => messageEnd > (steps[index - 1] ?? beginning).messageEnd)
  const step = steps[last]
  if (step === undefined) return finished(message, body)
  const before = steps[last - 1] ?? beginning
  const reasonsInItems = steps.at(-1)!.reasonsInItems
  const open = stepConversion(parts.slice(before.end, step.end), { ...context, reasonsInItems, isOpenEnd: true })
  return finished(message, {
    messages: [...body.messages.slice(0, before.messageEnd), ...open.messages],
    repairs: [...body.repairs.slice(0, before.repairEnd), ...open.repairs, ...body.repairs.slice(step.repairEnd)],
    hasFiles: body.hasFiles,
  })
}

/** Puts conversions together. */
export function joined(pieces: readonly Conversion[]): Conversion {
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
  const { messages, newest } = caches[target]
  const known = messages.get(message)
  if (known !== undefined) return known
  const { parts } = message.content
  const context = contextOf(message, target)
  if (!parts.some(isDivider)) {
    const reasonsInItems = parts.some(isReasoningItem)
    const conversion = finished(message, stepConversion(parts, { ...context, reasonsInItems }))
    messages.set(message, conversion)
    return conversion
  }
  const first = parts[0]!
  const conversion = converted(message, context, newest.get(first))
  messages.set(message, conversion)
  newest.set(first, conversion)
  return conversion
}

type MessageContext = Omit<StepContext, 'reasonsInItems'>

function contextOf(message: AgentMessage, target: Target): MessageContext {
  return { target, messageId: message.id, role: message.role === 'user' ? 'user' : 'assistant', isOpenEnd: false }
}

const beginning: Step = { end: 0, messageEnd: 0, repairEnd: 0, reasonsInItems: false, hasFiles: false }

function converted(
  message: AgentMessage,
  context: MessageContext,
  earlier: MessageConversion | undefined,
): MessageConversion {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const parts = [...message.content.parts]
  const steps = earlier === undefined ? [] : keptSteps(parts, earlier)
  const last = steps.at(-1) ?? beginning
  const rest = stepsOf(parts.slice(last.end))
  const reasonsInItems = last.reasonsInItems || rest.some(step => step.some(isReasoningItem))
  if (earlier !== undefined && reasonsInItems !== (earlier.steps.at(-1) ?? beginning).reasonsInItems)
    return converted(message, context, undefined)
  const messages = earlier?.body.messages.slice(0, last.messageEnd) ?? []
  const repairs = earlier?.body.repairs.slice(0, last.repairEnd) ?? []
  let before = last
  for (const step of rest) {
    const piece = stepConversion(step, { ...context, reasonsInItems })
    messages.push(...piece.messages)
    repairs.push(...piece.repairs)
    before = {
      end: before.end + step.length,
      messageEnd: messages.length,
      repairEnd: repairs.length,
      reasonsInItems: before.reasonsInItems || step.some(isReasoningItem),
      hasFiles: before.hasFiles || piece.hasFiles,
    }
    steps.push(before)
  }
  const body = { messages, repairs, hasFiles: before.hasFiles }
  return { ...finished(message, body), parts, steps, body }
}

/** The steps of the earlier version that this version begins with. The last one counts only if it did not grow. */
function keptSteps(parts: readonly MessagePart[], earlier: MessageConversion): Step[] {
  const { parts: before, steps } = earlier
  let common = 0
  while (common < before.length && before[common] === parts[common]) common++
  let count = steps.length
  while (count > 0 && steps[count - 1]!.end > common) count--
  if (count > 0 && steps[count - 1]!.end === common && !isClosed(parts, common)) count--
  return steps.slice(0, count)
}

/** Whether no part can come to the step that ends there. */
function isClosed(parts: readonly MessagePart[], end: number): boolean {
  const follows = parts[end]
  return follows === undefined || isDivider(follows) || parts[end - 1]?.type === 'steering-message'
}

/** Options of a whole message are those of its last part for a provider, so they go with the last piece of it. */
function finished(message: AgentMessage, { messages, repairs, hasFiles }: Conversion): Conversion {
  const { providerMetadata } = message.content
  const last = messages.at(-1)
  if (last === undefined) {
    const reason = 'The message was left out, because nothing in it is for a model.'
    return { messages, repairs: [...repairs, repair('empty-message', message.id, { reason })], hasFiles }
  }
  return {
    messages:
      providerMetadata === undefined
        ? messages
        : messages.with(-1, Object.freeze({ ...last, providerOptions: providerMetadata })),
    repairs,
    hasFiles,
  }
}

/** A step begins at its `step-start`; a message that was put in between stands by itself. */
function stepsOf(parts: readonly MessagePart[]): readonly (readonly MessagePart[])[] {
  const steps: MessagePart[][] = []
  let open: MessagePart[] | undefined
  for (const part of parts) {
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
