// Messages as a model sees them, converted once: by segment, by message, and within a growing message by step.
import {
  convertStep,
  itemProvider,
  type Conversion,
  type ConvertedMessage,
  type StepContext,
  type Target,
} from './convert-step.ts'
import type { AgentMessage, MessagePart } from './message.ts'
import { repair, type PromptRepair } from './prompt-repair.ts'
import type { Sequence } from './segments.ts'

interface Step {
  readonly parts: readonly MessagePart[]
  readonly reasonsInItems: boolean
  readonly conversion: Conversion
}

interface MessageConversion extends Conversion {
  readonly steps: readonly Step[]
  readonly reasonsInItems: boolean
}

interface Caches {
  readonly messages: WeakMap<AgentMessage, MessageConversion>
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
  const { steps, reasonsInItems } = converted(message, context, undefined)
  const last = steps.findLastIndex(step => step.conversion.messages.length > 0)
  const open = steps.map(({ parts, conversion }, index) =>
    index === last ? stepConversion(parts, { ...context, reasonsInItems, isOpenEnd: true }) : conversion,
  )
  const { messages, repairs } = joined(open)
  return finished(message, messages, repairs)
}

/** Puts conversions together. */
export function joined(pieces: readonly Conversion[]): Conversion {
  const messages: ConvertedMessage[] = []
  const repairs: PromptRepair[] = []
  for (const piece of pieces) {
    for (const message of piece.messages) messages.push(message)
    for (const told of piece.repairs) repairs.push(told)
  }
  return { messages, repairs }
}

function convertMessage(message: AgentMessage, target: Target): Conversion {
  const { messages, newest } = caches[target]
  const known = messages.get(message)
  if (known !== undefined) return known
  const first = message.content.parts[0]
  const conversion = converted(message, contextOf(message, target), first && newest.get(first))
  messages.set(message, conversion)
  if (first !== undefined) newest.set(first, conversion)
  return conversion
}

type MessageContext = Omit<StepContext, 'reasonsInItems'>

function contextOf(message: AgentMessage, target: Target): MessageContext {
  return { target, messageId: message.id, role: message.role === 'user' ? 'user' : 'assistant', isOpenEnd: false }
}

function converted(
  message: AgentMessage,
  context: MessageContext,
  earlier: MessageConversion | undefined,
): MessageConversion {
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const parts = [...message.content.parts]
  const kept = keptSteps(parts, earlier)
  const rest = stepsOf(parts.slice(kept.reduce((length, step) => length + step.parts.length, 0)))
  const steps = [...kept, ...rest.map(step => ({ parts: step, reasonsInItems: step.some(isReasoningItem) }))]
  const reasonsInItems = steps.some(step => step.reasonsInItems)
  const reusable = earlier?.reasonsInItems === reasonsInItems
  const done = steps.map((step): Step =>
    reusable && 'conversion' in step
      ? step
      : { ...step, conversion: stepConversion(step.parts, { ...context, reasonsInItems }) },
  )
  const { messages, repairs } = joined(done.map(step => step.conversion))
  return { ...finished(message, messages, repairs), steps: done, reasonsInItems }
}

/** The steps of the earlier version that this version begins with. The last one counts only if it did not grow. */
function keptSteps(parts: readonly MessagePart[], earlier: MessageConversion | undefined): readonly Step[] {
  const kept: Step[] = []
  let start = 0
  for (const step of earlier?.steps ?? []) {
    const end = start + step.parts.length
    for (let index = start; index < end; index++) if (parts[index] !== step.parts[index - start]) return kept
    const follows = parts[end]
    if (follows !== undefined && !isDivider(follows) && step.parts[0]?.type !== 'steering-message') return kept
    kept.push(step)
    start = end
  }
  return kept
}

/** Options of a whole message are those of its last part for a provider, so they go with the last piece of it. */
function finished(
  message: AgentMessage,
  messages: readonly ConvertedMessage[],
  repairs: readonly PromptRepair[],
): Conversion {
  const { providerMetadata } = message.content
  const last = messages.at(-1)
  if (last === undefined) {
    return {
      messages,
      repairs: [
        ...repairs,
        repair('empty-message', message.id, {
          reason: 'The message was left out, because nothing in it is for a model.',
        }),
      ],
    }
  }
  return {
    messages:
      providerMetadata === undefined
        ? messages
        : messages.with(-1, Object.freeze({ ...last, providerOptions: providerMetadata })),
    repairs,
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
