// The hooks of a redactor: every place in a run where text comes in, goes to the model, to a tool, or out. What is found
// there, and what is done with it, is in redaction.ts.
import { isToolPart, type LanguageModelPrompt, type MessagePart } from '@lockstep/message-list'
import type { Processor, ProcessorContext, ProcessRunEndArgs, ProcessStepEndArgs } from '@lockstep/processors'
import { rewriteAnswer } from '../texts/rewritten-answer.ts'
import { rewriteMessages, rewritePrompt, rewritePromptMessage } from '../texts/rewritten-message.ts'
import { RewrittenStream } from '../texts/rewritten-stream.ts'
import type { OpenText } from '../texts/rewritten-text.ts'
import { rewriteValue } from '../texts/rewritten-value.ts'
import { Redaction, type Finding, type FindingPlace, type RedactionScope, type RedactorOptions } from './redaction.ts'
import { emptyVault, type TokenVault } from './token-vault.ts'

/** What a redactor keeps of a run. */
export interface RedactorState {
  /** The values that the model knows by a token. */
  vault: TokenVault
}

/** What a redactor is called, and what it looks for when it is not told. */
export interface RedactorIdentity<TId extends string> {
  readonly id: TId
  readonly name: string
  readonly description: string
  readonly kinds: ReadonlySet<string>
}

type Context = Pick<ProcessorContext<unknown, RedactorState>, 'state' | 'abort'>
type PromptMessage = LanguageModelPrompt[number]

/** What is open in a run. It lives as long as the run's state, and has nothing in it when a run is suspended. */
interface OpenRun {
  readonly stream: RewrittenStream<RedactionScope>
  /** Messages of prompts that need no second look. */
  readonly prompts: WeakMap<PromptMessage, PromptMessage>
  /** Parts with errors and reasons that need none either. */
  readonly told: WeakSet<MessagePart>
}

/** Makes a processor that redacts. */
export function redactingProcessor<TId extends string>(
  identity: RedactorIdentity<TId>,
  options: RedactorOptions,
): Processor<TId, unknown, RedactorState> {
  const redaction = new Redaction(options, identity.kinds)
  const runs = new WeakMap<object, OpenRun>()
  const openText: OpenText<RedactionScope> = (where, current) =>
    redaction.open(where, { vault: () => current().vault(), block: finding => current().block(finding) })
  const runOf = ({ state }: Pick<Context, 'state'>): OpenRun => {
    let run = runs.get(state)
    if (!run)
      runs.set(state, (run = { stream: new RewrittenStream(openText), prompts: new WeakMap(), told: new WeakSet() }))
    return run
  }
  const scopeOf = ({ state, abort }: Context): RedactionScope => ({
    vault: () => (state.vault ??= emptyVault()),
    block: finding => abort(refusalOf(finding), { retry: options.retry === true, metadata: finding }),
  })
  const redactIn = (where: FindingPlace, context: Context) => {
    const scope = scopeOf(context)
    return (text: string) => redaction.redact(text, where, scope)
  }

  /**
   * What tools have for the model alone, and why calls are refused or asked about, comes into the conversation past all
   * hooks: it is put right as soon as there is one.
   */
  const redactOthers = (context: ProcessStepEndArgs<RedactorState> | ProcessRunEndArgs<RedactorState>) => {
    const { messageList, state } = context
    const { told } = runOf(context)
    const vault = () => (state.vault ??= emptyVault())
    const scope = { vault, block: ({ kind }: Finding) => redaction.replacementOf(kind) }
    const isNew = (part: MessagePart) => isPastHooks(part) && !told.has(part)
    const messages = messageList.get.response.having(isPastHooks)
    const redacted = rewriteMessages(messages, text => redaction.redact(text, 'tool-output', scope), isNew)
    for (const { id, content } of redacted ?? [])
      messageList.update(id, draft => void (draft.content.parts = content.parts as never))
    for (const { content } of messageList.get.response.having(isPastHooks))
      for (const part of content.parts) if (isPastHooks(part)) told.add(part)
  }

  return {
    id: identity.id,
    name: identity.name,
    description: identity.description,
    processDataParts: true,

    processInput: context => rewriteMessages(context.messages, redactIn('input', context)),

    processLLMRequest(context) {
      const { prompts } = runOf(context)
      const redact = redactIn('prompt', context)
      const prompt = rewritePrompt(context.prompt, message => {
        let redacted = prompts.get(message)
        if (!redacted) prompts.set(message, (redacted = rewritePromptMessage(message, redact)))
        return redacted
      })
      return prompt && { prompt }
    },

    processOutputStream: context => runOf(context).stream.pass(context.part, scopeOf(context)),

    flush: context => runOf(context).stream.flush(context.blockId, context.runId, scopeOf(context)),

    processToolCall(context) {
      const { input, toolName } = context
      const redacted = rewriteValue(input, redactIn('tool-input', context))
      const restored = redaction.restoresFor(toolName)
        ? rewriteValue(redacted, text => redaction.restore(text, scopeOf(context)))
        : redacted
      return restored === input ? undefined : { input: restored }
    },

    processToolResult(context) {
      const redact = redactIn('tool-output', context)
      if (context.error !== undefined) {
        const error = rewriteValue(context.error, redact)
        return error === context.error ? undefined : { error }
      }
      const output = rewriteValue(context.output, redact)
      return output === context.output ? undefined : { output }
    },

    processOutputResult: context => rewriteAnswer(context.messages, redactIn('result', context)),

    processStepEnd: redactOthers,

    processRunEnd: redactOthers,
  }
}

function isPastHooks(part: MessagePart): boolean {
  if (!isToolPart(part)) return false
  return part.state === 'output-error' || part.approval !== undefined || 'modelOutput' in part
}

const places: { readonly [where in FindingPlace]: string } = {
  input: 'The input',
  prompt: 'The prompt',
  text: 'The answer',
  reasoning: 'The reasoning',
  'tool-input': 'The input of a tool',
  'tool-output': 'The output of a tool',
  result: 'The answer',
  data: 'Data of the application',
}

/** The reason reaches the model when it is asked for another answer, so it says what to leave out. */
function refusalOf({ kind, where }: Finding): string {
  return `${places[where]} has something in it that must not pass (${kind}). Leave it out.`
}
