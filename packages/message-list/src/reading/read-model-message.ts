// Model messages on their way in. They have no ids, and spread one response over several messages: those that belong
// together become one message here, and a tool's result goes to its call.
import type { ProviderMetadata } from 'ai'
import { exactly, frozen, type Frozen } from '../frozen-json.ts'
import { fileAddress } from '../file-url.ts'
import type { MessagePart, MessageSource, ToolPart } from '../message.ts'
import { isToolPart } from '../message.ts'
import type { MessageDraft, Reading } from './message-draft.ts'
import {
  modelPart,
  type AssistantModelPart,
  type ToolResultModelPart,
  type UserModelPart,
} from './model-part-schema.ts'
import { isAt, type ToolAddress } from '../editing/tool-place.ts'
import { changedTool, type ToolChange } from '../editing/tool-state.ts'
import { changeOfOutput } from '../views/tool-output.ts'

type Options = Frozen<ProviderMetadata> | undefined

/** A model message as it is after copying: frozen JSON with a role. */
export interface CopiedModelMessage {
  readonly id?: string
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: string | readonly unknown[]
  /** The AI SDK 4 had a time on some. */
  readonly createdAt?: string
  readonly providerOptions?: Options
}

interface OpenMessage {
  readonly envelope: Pick<MessageDraft, 'id' | 'createdAt'>
  readonly path: string
  readonly isStep: boolean
  readonly parts: MessagePart[]
  options: Options
}

/** Reads inputs in order. Model messages that follow each other may belong together; anything else stands by itself. */
export class ModelMessageReader {
  readonly #readings: Reading[] = []
  readonly #source: MessageSource
  #open: OpenMessage | undefined
  #afterTool = false

  constructor(source: MessageSource) {
    this.#source = source
  }

  read(message: CopiedModelMessage, path: string): void {
    const { role, content } = message
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (role === 'user') this.#user(message, parts, path)
    else if (role === 'assistant') this.#assistant(message, parts, path)
    else this.#tool(message, parts, path)
    this.#afterTool = role === 'tool'
  }

  /** Takes what was read elsewhere: the message that was being read ends here. */
  interrupt(readings: readonly Reading[]): void {
    this.#finish()
    this.#afterTool = false
    this.#readings.push(...readings)
  }

  /** Ends reading. */
  close(): readonly Reading[] {
    this.#finish()
    return this.#readings
  }

  #finish(): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    const draft: MessageDraft = {
      ...open.envelope,
      role: 'assistant',
      parts: exactly(open.parts),
      providerMetadata: open.options,
    }
    this.#readings.push({ type: 'message', draft, path: open.path, ...(open.isStep ? { isStep: true } : {}) })
  }

  #user(message: CopiedModelMessage, content: readonly unknown[], path: string): void {
    this.#finish()
    const parts = content.map((part, index) => userPart(modelPart('user', part, `${path}.content[${index}]`)))
    const { providerOptions } = message
    const draft: MessageDraft = {
      ...envelopeOf(message),
      role: 'user',
      parts,
      providerMetadata: providerOptions,
    }
    this.#readings.push({ type: 'message', draft, path })
  }

  /** After a tool's result, and anywhere within a response, an assistant message without an id is the next step. */
  #assistant(message: CopiedModelMessage, content: readonly unknown[], path: string): void {
    const isStep = message.id === undefined && (this.#source === 'response' || this.#afterTool)
    if (!isStep || this.#open === undefined) {
      this.#finish()
      this.#open = {
        envelope: envelopeOf(message),
        path,
        isStep: isStep && this.#readings.every(reading => reading.type !== 'message'),
        parts: [],
        options: undefined,
      }
    } else {
      spillOptions(this.#open)
      this.#open.parts.push(Object.freeze({ type: 'step-start' }))
    }
    this.#open.options = message.providerOptions
    for (const [index, part] of content.entries()) {
      const at = `${path}.content[${index}]`
      this.#assistantPart(this.#open, modelPart('assistant', part, at), at)
    }
  }

  #assistantPart(open: OpenMessage, part: AssistantModelPart, path: string): void {
    if (part.type === 'tool-result') {
      this.#change({ toolCallId: part.toolCallId }, resultOf(part, true), path)
    } else if (part.type === 'tool-approval-request') {
      const { type: _, approvalId, toolCallId, reason, ...rest } = part
      const approval = frozen({ id: approvalId, requestReason: reason, ...rest })
      this.#change({ toolCallId }, { state: 'approval-requested', approval }, path)
    } else {
      open.parts.push(assistantPart(part))
    }
  }

  #tool(message: CopiedModelMessage, content: readonly unknown[], path: string): void {
    for (const [index, given] of content.entries()) {
      const at = `${path}.content[${index}]`
      const part = modelPart('tool', given, at)
      if (part.type === 'tool-result') {
        const isLast = index === content.length - 1
        const change = resultOf(isLast ? withOptions(part, message.providerOptions) : part, false)
        this.#change({ toolCallId: part.toolCallId }, change, at)
      } else {
        const approval = frozen({ id: part.approvalId, approved: part.approved, reason: part.reason })
        this.#change({ approvalId: part.approvalId }, { state: 'approval-responded', approval }, at)
      }
    }
  }

  /** Changes a call that was read just now, or leaves it to the list to find it. */
  #change(of: ToolAddress, change: ToolChange, path: string): void {
    const parts = this.#open?.parts ?? []
    const index = parts.findLastIndex(part => isToolPart(part) && isAt(part, of))
    // What is for another message comes before this one, which may go on.
    if (index < 0) this.#readings.push({ type: 'outcome', of, change, path })
    else parts[index] = changedTool(parts[index] as ToolPart, change, path)
  }
}

function envelopeOf({ id, createdAt }: CopiedModelMessage): Pick<MessageDraft, 'id' | 'createdAt'> {
  return { id, createdAt }
}

function userPart(part: UserModelPart): MessagePart {
  return part.type === 'text' ? textPart(part) : filePart(part)
}

function assistantPart(
  part: Exclude<AssistantModelPart, { type: 'tool-result' | 'tool-approval-request' }>,
): MessagePart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return textPart(part)
    case 'file':
    case 'reasoning-file':
      return filePart(part)
    case 'custom':
      return stored({ type: 'custom', kind: part.kind, providerMetadata: part.providerOptions })
    case 'tool-call': {
      const { toolCallId, toolName, input, providerExecuted, providerOptions } = part
      return stored({
        type: `tool-${toolName}`,
        toolCallId,
        state: 'input-available',
        input: input ?? Object.freeze({}),
        providerExecuted,
        callProviderMetadata: providerOptions,
      })
    }
  }
}

function textPart(part: {
  readonly type: string
  readonly text: string
  readonly providerOptions?: unknown
}): MessagePart {
  return stored({ type: part.type, text: part.text, providerMetadata: part.providerOptions })
}

function filePart(part: {
  readonly type: string
  readonly data: unknown
  readonly mediaType: string
  readonly filename?: unknown
  readonly providerOptions?: unknown
}): MessagePart {
  const { type, data, mediaType, filename } = part
  return stored({
    type,
    mediaType,
    ...fileAddress(data, mediaType),
    filename,
    providerMetadata: part.providerOptions,
  })
}

/** What a part is made of was checked and frozen on the way in. */
function stored(part: object): MessagePart {
  return frozen(part) as MessagePart
}

function resultOf(part: ToolResultModelPart, providerExecuted: boolean): ToolChange {
  const change = changeOfOutput(part.output as Parameters<typeof changeOfOutput>[0], providerExecuted)
  return part.providerOptions === undefined || change.state === 'output-denied'
    ? change
    : ({ ...change, providerMetadata: part.providerOptions } as ToolChange)
}

/** Options of a whole message mean its last part, and are kept there when the message does not stay one of its own. */
function withOptions<T extends { readonly providerOptions?: unknown }>(part: T, options: Options): T {
  if (options === undefined) return part
  return { ...part, providerOptions: Object.freeze({ ...options, ...(part.providerOptions as Options) }) }
}

function spillOptions(open: OpenMessage): void {
  const last = open.parts.at(-1)
  if (open.options === undefined || last === undefined) return
  const key = isToolPart(last) ? 'callProviderMetadata' : 'providerMetadata'
  const before = (last as { readonly [metadata in typeof key]?: Options })[key]
  open.parts[open.parts.length - 1] = Object.freeze({
    ...last,
    [key]: Object.freeze({ ...open.options, ...before }),
  }) as MessagePart
}
