// One step of a message as a model sees it: what the assistant said, and what its tools answered.
import { dataOfUrl } from '../file-url.ts'
import { exactly, frozen } from '../frozen-json.ts'
import { isToolPart, toolNameOf, type MessagePart, type ToolPart } from '../message.ts'
import { repair, type PromptRepair } from './prompt-repair.ts'
import { modelOutputOf } from './tool-output.ts'

/** `prompt` is what a `LanguageModelV4` is given, `model` the AI SDK's `ModelMessage`, which keeps the approvals as well. */
export type Target = 'prompt' | 'model'

/** What a step needs to know about the message that it belongs to. */
export interface StepContext {
  readonly target: Target
  readonly messageId: string
  readonly role: 'user' | 'assistant'
  /** Whether the model of this message reasons in items that its calls refer to. */
  readonly reasonsInItems: boolean
  /** Whether calls that wait for an approval, or for running after one, stay open: the AI SDK goes on with them. */
  readonly isOpenEnd: boolean
}

/** A message in either target's form. The two differ in a few parts only; the caller knows which one it asked for. */
export interface ConvertedMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: readonly object[]
  readonly providerOptions?: unknown
}

export interface Conversion {
  readonly messages: readonly ConvertedMessage[]
  readonly repairs: readonly PromptRepair[]
  /** Whether somebody has said a file; those in results of tools are not meant. */
  readonly hasFiles: boolean
}

/** Converts the parts of one step. The result is frozen. */
export function convertStep(parts: readonly MessagePart[], context: StepContext): Conversion {
  const step = new StepConverter(context)
  // V8 reads a frozen array several times slower than a copy of it, and copying is the cheapest of all.
  const given = [...parts]
  const finished = given.some(isUnfinished) ? withoutUnfinished(given, step) : given
  const last = finished.at(-1)
  const said = last === undefined || isSaid(last) ? finished : withoutLoneReasoning(finished, step)
  for (const part of said) step.take(part)
  return step.result()
}

function isUnfinished(part: MessagePart): part is ToolPart {
  return isToolPart(part) && part.state === 'input-streaming'
}

function withoutUnfinished(parts: readonly MessagePart[], step: StepConverter): readonly MessagePart[] {
  return parts.filter(part => {
    if (!isUnfinished(part)) return true
    step.repair('unfinished-call', 'The call was left out, because its input never arrived completely.', {
      toolCallId: part.toolCallId,
    })
    return false
  })
}

/** Reasoning is only accepted before what it led to. */
function withoutLoneReasoning(parts: readonly MessagePart[], step: StepConverter): readonly MessagePart[] {
  const last = parts.findLastIndex(part => isSaid(part))
  return parts.filter((part, index) => {
    if (index <= last || (part.type !== 'reasoning' && part.type !== 'reasoning-file')) return true
    step.repair(
      'reasoning-without-call',
      'The reasoning was left out, because the call or the text that it led to is not there.',
      { partType: part.type },
    )
    return false
  })
}

function isSaid(part: MessagePart): boolean {
  if (part.type === 'text') return part.text !== '' || part.providerMetadata !== undefined
  return part.type === 'file' || part.type === 'custom' || isToolPart(part)
}

class StepConverter {
  readonly #context: StepContext
  readonly #content: object[] = []
  readonly #answers: object[] = []
  readonly #repairs: PromptRepair[] = []
  #hasReasoning = false
  #hasFiles = false

  constructor(context: StepContext) {
    this.#context = context
  }

  repair(
    type: PromptRepair['type'],
    reason: string,
    about: { readonly partType?: string; readonly toolCallId?: string } = {},
  ): void {
    this.#repairs.push(repair(type, this.#context.messageId, { reason, ...about }))
  }

  take(part: MessagePart): void {
    if (isToolPart(part)) return this.#tool(part)
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#text(part)
      case 'file':
      case 'reasoning-file':
        return this.#file(part)
      case 'custom':
        return this.#say({ type: 'custom', kind: part.kind, providerOptions: part.providerMetadata })
      case 'source-url':
      case 'source-document':
      case 'step-start':
        return
      default:
        if (!part.type.startsWith('data-'))
          this.repair(
            'unknown-part',
            `The part was left out, because "${part.type}" is not a type that models are given.`,
            { partType: part.type },
          )
    }
  }

  result(): Conversion {
    const said = messageOf(this.#context.role, this.#content)
    const answered = messageOf('tool', this.#answers)
    return { messages: [...said, ...answered], repairs: this.#repairs, hasFiles: this.#hasFiles }
  }

  #say(part: object): void {
    this.#content.push(frozen(part))
  }

  #text(part: Extract<MessagePart, { type: 'text' | 'reasoning' }>): void {
    const carriesNothing = part.text === '' && (part.providerMetadata === undefined || this.#context.role === 'user')
    if (carriesNothing)
      return this.repair('empty-part', 'The part was left out, because models refuse empty text.', {
        partType: part.type,
      })
    if (part.type === 'reasoning') this.#hasReasoning = true
    this.#say({ type: part.type, text: part.text, providerOptions: part.providerMetadata })
  }

  #file(part: Extract<MessagePart, { type: 'file' | 'reasoning-file' }>): void {
    const address = fileData(part, this.#context.target)
    if (address === undefined)
      return this.repair(
        'unusable-file',
        `The file was left out, because ${JSON.stringify(part.url.slice(0, 60))} is not an address.`,
        { partType: part.type },
      )
    this.#hasFiles = true
    const filename = 'filename' in part && part.filename !== undefined ? { filename: part.filename } : {}
    this.#say({ type: part.type, ...address, ...filename, providerOptions: part.providerMetadata })
  }

  #tool(part: ToolPart): void {
    const { toolCallId, providerExecuted } = part
    const toolName = toolNameOf(part)
    const callMetadata = this.#callMetadata(part)
    this.#say({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: inputOf(part),
      providerExecuted,
      providerOptions: callMetadata,
    })
    this.#approval(part)
    const output = this.#outputOf(part)
    if (output === undefined) return
    const metadata = ('resultProviderMetadata' in part ? part.resultProviderMetadata : undefined) ?? callMetadata
    const result = frozen({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: this.#shown(output, part),
      providerOptions: metadata,
    })
    if (providerExecuted === true) this.#content.push(result)
    else this.#answers.push(result)
  }

  /** A call that refers to a reasoning item is refused without it, and accepted when it does not refer to itself. */
  #callMetadata(part: ToolPart): unknown {
    const metadata = part.callProviderMetadata
    if (
      !this.#context.reasonsInItems ||
      this.#hasReasoning ||
      metadata === undefined ||
      itemProvider(metadata) === undefined
    )
      return metadata
    this.repair(
      'call-without-reasoning',
      'The item id of the call was left out, because the reasoning item before it is not there.',
      { toolCallId: part.toolCallId },
    )
    const kept = Object.entries(metadata).map(([provider, noted]) => {
      const { itemId: _, ...rest } = noted
      return [provider, Object.freeze(rest)] as const
    })
    return Object.freeze(Object.fromEntries(kept))
  }

  #approval(part: ToolPart): void {
    const { approval, toolCallId } = part
    if (approval === undefined) return
    const { id: approvalId, requestReason, isAutomatic, signature } = approval
    const isAnswered = approval.approved !== undefined
    // A request that nobody answered is over when the conversation went on: the call is answered with an error.
    if (this.#context.target === 'model' && (isAnswered || this.#context.isOpenEnd || part.providerExecuted === true)) {
      this.#say({
        type: 'tool-approval-request',
        approvalId,
        toolCallId,
        reason: requestReason,
        isAutomatic,
        signature,
        inputSchemaInput: approval.inputSchemaInput,
      })
    }
    if (!isAnswered) return
    const { approved, reason } = approval
    // A provider that runs a tool wants the answer itself; others see only what came of it.
    if (this.#context.target === 'prompt' && part.providerExecuted !== true) return
    const providerExecuted = this.#context.target === 'model' ? part.providerExecuted : undefined
    this.#answers.push(
      frozen({
        type: 'tool-approval-response',
        approvalId,
        approved,
        reason,
        providerExecuted,
      }),
    )
  }

  #outputOf(part: ToolPart): object | undefined {
    const executed = part.providerExecuted === true
    if (part.state === 'output-denied') return executed ? undefined : modelOutputOf(part)
    const output = modelOutputOf(part)
    if (output !== undefined || executed) return output
    const { approval } = part
    if (approval?.approved === false) return frozen({ type: 'execution-denied', reason: approval.reason })
    if (approval !== undefined && this.#context.isOpenEnd) return undefined
    this.repair(
      'unanswered-call',
      'The call was answered with an error, because models refuse a call without a result.',
      { toolCallId: part.toolCallId },
    )
    return { type: 'error-text', value: 'This call has no result: it was not run, or its result was lost.' }
  }

  /** Addresses in a result become what the target wants; what is no file of anybody's is left out. */
  #shown(output: object, { toolCallId }: ToolPart): object {
    const { type, value } = output as { readonly type: string; readonly value?: readonly ContentItem[] }
    if (type !== 'content' || value === undefined) return Object.freeze(output)
    const items = value.flatMap(item => {
      const shown = contentItem(item, this.#context.target)
      if (shown !== undefined) return [shown]
      this.repair(
        'unusable-file',
        `Content of the type "${item.type}" was left out, because it does not say where the file is.`,
        { toolCallId, partType: item.type },
      )
      return []
    })
    return Object.freeze({ ...output, value: Object.freeze(items) })
  }
}

/** The message that has such a content, if there is any. */
function messageOf(role: ConvertedMessage['role'], content: readonly object[]): readonly ConvertedMessage[] {
  return content.length === 0 ? [] : [Object.freeze({ role, content: Object.freeze(exactly(content)) })]
}

function inputOf(part: ToolPart): unknown {
  return part.input ?? ('rawInput' in part ? part.rawInput : undefined) ?? emptyInput
}

const emptyInput = Object.freeze({})

/** The provider under which metadata names an item, such as OpenAI's `fc_…` and `rs_…`. */
export function itemProvider(metadata: {
  readonly [provider: string]: { readonly [key: string]: unknown } | undefined
}): string | undefined {
  return Object.keys(metadata).find(provider => typeof metadata[provider]?.['itemId'] === 'string')
}

function fileData(part: Extract<MessagePart, { type: 'file' | 'reasoning-file' }>, target: Target): object | undefined {
  const { url, mediaType } = part
  if ('providerReference' in part && part.providerReference !== undefined) {
    return { data: Object.freeze({ type: 'reference', reference: part.providerReference }), mediaType }
  }
  const inline = dataOfUrl(url)
  if (inline !== undefined) {
    return target === 'model'
      ? { data: url, mediaType }
      : { data: Object.freeze({ type: 'data', data: inline.base64 }), mediaType: inline.mediaType }
  }
  if (!URL.canParse(url) || url.startsWith('data:')) return undefined
  return { data: target === 'model' ? url : addressOf(url), mediaType }
}

/** A provider is given a `URL`, and the text when that does not say the same: some addresses are signed. */
function addressOf(text: string): object {
  const url = new URL(text)
  return Object.freeze({ type: 'url', url, ...(url.href === text ? {} : { originalUrl: text }) })
}

interface ContentItem {
  readonly type: string
  readonly mediaType?: string
  readonly data?: { readonly type: string; readonly url?: string }
}

function contentItem(item: ContentItem, target: Target): object | undefined {
  const { type, data } = item
  if (type !== 'file') return target === 'model' || type === 'text' || type === 'custom' ? item : undefined
  if (data?.type !== 'url') return item
  const url = data.url ?? ''
  const inline = dataOfUrl(url)
  if (inline !== undefined)
    return Object.freeze({
      ...item,
      data: Object.freeze({ type: 'data', data: inline.base64 }),
      mediaType: inline.mediaType,
    })
  return URL.canParse(url) ? Object.freeze({ ...item, data: addressOf(url) }) : undefined
}
