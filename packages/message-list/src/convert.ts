// Messages as a model sees them, converted once: by segment, by message, and within a growing message by step.
import { convertStep, itemProvider, type Conversion, type ConvertedMessage, type StepContext, type Target } from './convert-step.ts'
import type { AgentMessage, MessagePart } from './message.ts'
import { repair, type PromptRepair } from './prompt-repair.ts'
import type { Segment, Sequence } from './segments.ts'

interface Step {
  readonly start: number
  readonly end: number
  readonly conversion: Conversion
}

interface MessageConversion extends Conversion {
  readonly parts: readonly MessagePart[]
  readonly steps: readonly Step[]
  readonly reasonsInItems: boolean
}

interface Caches {
  readonly segments: WeakMap<Segment, Conversion>
  readonly messages: WeakMap<AgentMessage, MessageConversion>
  /** The newest version of a message, found by its first part, which all its versions share. */
  readonly newest: WeakMap<MessagePart, MessageConversion>
}

const caches: Readonly<Record<Target, Caches>> = {
  prompt: { segments: new WeakMap(), messages: new WeakMap(), newest: new WeakMap() },
  model: { segments: new WeakMap(), messages: new WeakMap(), newest: new WeakMap() },
}

/** Converts all messages of a sequence. What was converted before is not looked at again. */
export function convertSequence(sequence: Sequence, target: Target): Conversion {
  const { segments } = caches[target]
  const pieces: Conversion[] = []
  for (const segment of sequence.segments) {
    let piece = segments.get(segment)
    if (piece === undefined) {
      piece = convertMessages(segment.messages, target)
      segments.set(segment, piece)
    }
    pieces.push(piece)
  }
  return joined(pieces)
}

/** Converts messages in order. */
export function convertMessages(messages: readonly AgentMessage[], target: Target): Conversion {
  return joined(messages.map(message => convertMessage(message, target)))
}

/** Converts the last message for the AI SDK, which runs approved calls that have no result yet. */
export function convertOpenMessage(message: AgentMessage): Conversion {
  return converted(message, contextOf(message, 'model', true), undefined)
}

function convertMessage(message: AgentMessage, target: Target): Conversion {
  const { messages, newest } = caches[target]
  const known = messages.get(message)
  if (known !== undefined) return known
  const first = message.content.parts[0]
  const earlier = first === undefined ? undefined : newest.get(first)
  const conversion = converted(message, contextOf(message, target, false), earlier)
  messages.set(message, conversion)
  if (first !== undefined) newest.set(first, conversion)
  return conversion
}

function contextOf(message: AgentMessage, target: Target, keepsApproved: boolean): StepContext {
  const reasonsInItems = message.content.parts.some(part => part.type === 'reasoning' && part.providerMetadata !== undefined && itemProvider(part.providerMetadata) !== undefined)
  return { target, messageId: message.id, role: message.role === 'user' ? 'user' : 'assistant', reasonsInItems, keepsApproved }
}

function converted(message: AgentMessage, context: StepContext, earlier: MessageConversion | undefined): MessageConversion {
  const { parts, providerMetadata } = message.content
  const { messageId, reasonsInItems } = context
  const steps = reusableSteps(parts, context, earlier)
  let start = steps.at(-1)?.end ?? 0
  while (start < parts.length) {
    const end = endOfStep(parts, start)
    steps.push({ start, end, conversion: stepConversion(parts.slice(start, end), context) })
    start = end
  }
  const messages = steps.flatMap(step => step.conversion.messages)
  const repairs = steps.flatMap(step => step.conversion.repairs)
  if (messages.length === 0) repairs.push(repair('empty-message', messageId, { reason: 'The message was left out, because nothing in it is for a model.' }))
  else if (providerMetadata !== undefined) messages.push(withOptions(messages.pop()!, providerMetadata))
  return { messages, repairs, parts, steps, reasonsInItems }
}

/** The steps of an earlier version of the message that this version begins with, as they were. The last one may grow. */
function reusableSteps(parts: readonly MessagePart[], context: StepContext, earlier: MessageConversion | undefined): Step[] {
  if (earlier === undefined || earlier.reasonsInItems !== context.reasonsInItems) return []
  const reusable: Step[] = []
  for (const step of earlier.steps) {
    for (let index = step.start; index < step.end; index++) if (parts[index] !== earlier.parts[index]) return reusable
    if (step.end < parts.length ? !isDivider(parts[step.end]!) && step.end === earlier.parts.length : false) return reusable
    reusable.push(step)
  }
  return reusable
}

/** A step ends before the next `step-start`; a message that was put in between stands by itself. */
function endOfStep(parts: readonly MessagePart[], start: number): number {
  if (parts[start]!.type === 'steering-message') return start + 1
  let end = start + 1
  while (end < parts.length && !isDivider(parts[end]!)) end++
  return end
}

function isDivider(part: MessagePart): boolean {
  return part.type === 'step-start' || part.type === 'steering-message'
}

function stepConversion(parts: readonly MessagePart[], context: StepContext): Conversion {
  const [first] = parts
  return first?.type === 'steering-message' ? convertStep(first.parts, { ...context, role: 'user' }) : convertStep(parts, context)
}

function withOptions(message: ConvertedMessage, providerOptions: unknown): ConvertedMessage {
  return Object.freeze({ ...message, providerOptions })
}

function joined(pieces: readonly Conversion[]): Conversion {
  const messages: ConvertedMessage[] = []
  const repairs: PromptRepair[] = []
  return {
    messages: messages.concat(...(pieces.map(piece => piece.messages) as ConvertedMessage[][])),
    repairs: repairs.concat(...(pieces.map(piece => piece.repairs) as PromptRepair[][])),
  }
}
