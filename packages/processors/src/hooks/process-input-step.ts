// processInputStep: before each attempt at a model call. Shapes the step, and may edit the conversation.
import {
  applyOverlay,
  MessageList,
  overlayOf,
  type AgentMessage,
  type Edit,
  type MessageInput,
  type Overlay,
  type SystemMessage,
} from '@lockstep/message-list'
import type { ToolChoice, ToolSet } from 'ai'
import type { ModelChoice } from '../call-model.ts'
import type { ProcessorContext, StepPosition } from '../context.ts'
import { HookCall, resolveModelFor, type HookScope } from './hook-call.ts'
import { changedSince, stateOfList } from './list-state.ts'
import { inWords } from '../in-words.ts'
import { eachInOrder, isPromiseLike, type MaybePromise } from '../maybe-promise.ts'
import { checkKeys, checkMessages, checkSameList, readReturnedArray } from './message-result.ts'
import type { Processor } from '../processor.ts'
import { isObjectRequest, type ObjectRequest } from '../structured-output.ts'
import { frozenSettings, type ModelSettings, type ProviderOptions, type StepSettings } from '../step-settings.ts'

/** What `processInputStep` is given: the conversation as this step will send it, and the step's settings so far. */
export type ProcessInputStepArgs<
  TTripwireMetadata = unknown,
  TState extends object = Record<string, unknown>,
  TOOLS extends ToolSet = ToolSet,
> = ProcessorContext<TTripwireMetadata, TState> & StepSettings<TOOLS>

/** What `processInputStep` may change. `undefined` leaves a setting, an explicit value replaces it. */
export interface ProcessInputStepResult<TOOLS extends ToolSet = ToolSet> {
  readonly model?: ModelChoice | undefined
  readonly toolChoice?: ToolChoice<TOOLS> | undefined
  readonly activeTools?: readonly (keyof TOOLS & string)[] | undefined
  /** Replaces the step's tools; spread the given ones to add. */
  readonly tools?: ToolSet | undefined
  /** The messages as they should be. System messages in it are added to the step's. Not together with `messageList`. */
  readonly messages?: readonly MessageInput[] | undefined
  /** The list that was given, after edits through its methods. */
  readonly messageList?: MessageList | undefined
  /** Replaces the step's system messages. */
  readonly systemMessages?: readonly SystemMessage[] | undefined
  readonly providerOptions?: ProviderOptions | undefined
  readonly modelSettings?: ModelSettings | undefined
  /** What this step asks the model for; `null` asks for text. The caller's `object` is still of the caller's schema. */
  readonly structuredOutput?: ObjectRequest | null | undefined
  /** `'run'` edits the conversation; `'step'` shapes this step's prompt and leaves the conversation alone. */
  readonly scope?: 'run' | 'step' | undefined
}

/** All that the hook may return. */
export type ProcessInputStepReturn = ProcessInputStepResult | MessageList | readonly MessageInput[] | undefined | void

/** A step as the processors shaped it: its settings, and the edits of the prompt that never enter the list. */
export interface PreparedStep {
  readonly settings: StepSettings
  readonly overlay: Overlay | undefined
}

/** Where the chain starts. `feedback` is kept among the system messages, whatever replaces the others. */
export interface InputStepStart {
  readonly position: StepPosition
  readonly settings: StepSettings
  readonly feedback: SystemMessage | undefined
}

const settingKeys = [
  'model',
  'toolChoice',
  'activeTools',
  'tools',
  'providerOptions',
  'modelSettings',
  'structuredOutput',
] as const
const resultKeys = [...settingKeys, 'messages', 'messageList', 'systemMessages', 'scope']

/** Runs the hook of each processor in order, each over what the ones before it left. */
export function runProcessInputStep(
  scope: HookScope,
  processors: readonly Processor[],
  start: InputStepStart,
): MaybePromise<PreparedStep> {
  if (processors.length === 0) return { settings: start.settings, overlay: undefined }
  const chain = new InputStepChain(scope, start)
  const all = eachInOrder(processors, processor => chain.visit(processor))
  return isPromiseLike(all) ? all.then(() => chain.prepared) : chain.prepared
}

class InputStepChain {
  readonly #scope: HookScope
  readonly #start: InputStepStart
  #settings: StepSettings
  #overlay: Overlay | undefined
  readonly #stepOnlyIds = new Set<string>()

  constructor(scope: HookScope, start: InputStepStart) {
    this.#scope = scope
    this.#start = start
    this.#settings = start.settings
  }

  get prepared(): PreparedStep {
    return { settings: this.#settings, overlay: this.#overlay }
  }

  visit(processor: Processor): MaybePromise<void> {
    const call = new HookCall(this.#scope, processor, { hook: 'processInputStep', position: this.#start.position })
    const given = this.#view(call.list)
    const before = stateOfList(call.list)
    const args = { ...call.context(given), ...this.#settings }
    const finish = (result: ProcessInputStepReturn) => {
      const applied = this.#apply(call, result, given)
      this.#keepFeedback(call)
      const what = [...applied, ...changedSince(before, call.list)]
      if (what.length > 0) call.note({ type: 'changed', what })
    }
    const result = call.run(args, undefined)
    return isPromiseLike(result) ? result.then(finish) : finish(result)
  }

  #view(list: MessageList): readonly AgentMessage[] {
    const messages = list.get.all.db()
    return this.#overlay ? applyOverlay(messages, this.#overlay) : messages
  }

  /** Applies what the hook returned and gives the names of what it changed. */
  #apply(call: HookCall, result: ProcessInputStepReturn, given: readonly AgentMessage[]): readonly string[] {
    if (result === undefined || result === null) return []
    if (result instanceof MessageList) {
      checkSameList(call, result)
      return []
    }
    if (Array.isArray(result))
      return this.#applyMessages(call, result as readonly MessageInput[], { given, scope: 'run' })
    if (typeof result !== 'object')
      throw call.misused(
        'invalid-return',
        `returned ${String(result)} from processInputStep. Return settings, messages, or nothing.`,
      )
    return this.#applyResult(call, result as ProcessInputStepResult, given)
  }

  #applyResult(call: HookCall, result: ProcessInputStepResult, given: readonly AgentMessage[]): readonly string[] {
    checkKeys(call, result, resultKeys)
    if (result.messages && result.messageList)
      throw call.misused(
        'messages-and-message-list',
        'returned both messages and messageList from processInputStep. Return one: the array you want, or the list you edited.',
      )
    if (result.messageList !== undefined) checkSameList(call, result.messageList)
    if (result.messages !== undefined) checkMessages(call, result.messages)
    if (result.systemMessages !== undefined) checkMessages(call, result.systemMessages)
    if (result.scope !== undefined && result.scope !== 'run' && result.scope !== 'step')
      throw call.misused(
        'invalid-return',
        `returned the scope ${inWords(result.scope)} from processInputStep. It is 'run' or 'step'.`,
      )
    const what: string[] = [...this.#applySettings(call, result)]
    if (result.systemMessages) call.list.replaceAllSystemMessages(result.systemMessages)
    if (result.messages)
      what.push(...this.#applyMessages(call, result.messages, { given, scope: result.scope ?? 'run' }))
    return what
  }

  #applySettings(call: HookCall, result: ProcessInputStepResult): readonly string[] {
    const what = settingKeys.filter(key => result[key] !== undefined)
    if (what.length === 0) return what
    const changes = Object.fromEntries(what.map(key => [key, result[key] ?? undefined])) as Partial<StepSettings>
    if (changes.structuredOutput && !isObjectRequest(changes.structuredOutput))
      throw call.misused(
        'invalid-return',
        `returned ${inWords(changes.structuredOutput)} as structuredOutput from processInputStep. Return { schema }, or null for text.`,
      )
    const model = result.model === undefined ? {} : { model: resolveModelFor(call, this.#scope.host, result.model) }
    this.#settings = frozenSettings({ ...this.#settings, ...changes, ...model })
    return what
  }

  #applyMessages(
    call: HookCall,
    returned: readonly MessageInput[],
    rules: { readonly given: readonly AgentMessage[]; readonly scope: 'run' | 'step' },
  ): readonly string[] {
    const { edits, systemMessages } = readReturnedArray(call, returned, {
      given: rules.given,
      source: 'input',
      empty: 'refused',
    })
    this.#commit(call, edits, rules.scope)
    if (this.#overlay && edits.length > 0) this.#keepOrder(returned, edits)
    if (systemMessages.length > 0) call.list.addSystem(systemMessages)
    return edits.length > 0 && rules.scope === 'step' ? ['prompt'] : []
  }

  /** Step-scoped edits go to the overlay; so does a run-scoped edit of a message that is step-only already. */
  #commit(call: HookCall, edits: readonly Edit[], scope: 'run' | 'step'): void {
    const staysInPrompt = (edit: Edit) => scope === 'step' || idsOf(edit).some(id => this.#stepOnlyIds.has(id))
    const forPrompt = edits.filter(staysInPrompt)
    const forList = edits.filter(edit => !staysInPrompt(edit)).map(edit => this.#withoutStepOnly(call.list, edit))
    if (forList.length > 0) call.list.apply(forList)
    if (forPrompt.length === 0) return
    this.#overlay = overlayOf(forPrompt, this.#overlay)
    const ids = forPrompt.flatMap(idsOf)
    if (scope === 'run') call.note({ type: 'kept-step-only', messageIds: ids })
    for (const id of ids) this.#stepOnlyIds.add(id)
  }

  /** An order for the list names only what is in the list. */
  #withoutStepOnly(list: MessageList, edit: Edit): Edit {
    return edit.type === 'order' ? { ...edit, ids: edit.ids.filter(id => list.find(id) !== undefined) } : edit
  }

  /** The order of a returned array is the prompt's, step-only messages included. */
  #keepOrder(returned: readonly MessageInput[], edits: readonly Edit[]): void {
    const added = edits.flatMap(edit => (edit.type === 'insert' ? [edit.message.id] : [])).values()
    const ids = returned.flatMap(message => {
      if (typeof message === 'object' && message.role === 'system') return []
      const id =
        typeof message === 'object' && 'id' in message && typeof message.id === 'string'
          ? message.id
          : added.next().value
      return id === undefined ? [] : [id]
    })
    this.#overlay = overlayOf([{ type: 'order', ids }], this.#overlay)
  }

  #keepFeedback(call: HookCall): void {
    const { feedback } = this.#start
    if (feedback && !call.list.getAllSystemMessages().some(message => message.content === feedback.content))
      call.list.addSystem(feedback)
  }
}

function idsOf(edit: Edit): readonly string[] {
  if (edit.type === 'insert' || edit.type === 'replace') return [edit.message.id]
  return edit.type === 'remove' ? [edit.id] : []
}
