// The hooks of a processor that judges: each place where text comes in, comes out, or comes from a tool.
import type { AgentMessage } from '@lockstep/message-list'
import type { Processor, ProcessOutputStreamArgs } from '@lockstep/processors'
import type { AskJudges } from './judge-call.ts'
import {
  judgeOf,
  type Judge,
  type JudgeDefaults,
  type JudgeOptions,
  type JudgeProcessor,
  type JudgeState,
} from './judge.ts'
import { JudgedStream, type WindowJudge } from './judged-stream.ts'
import { Judging, judgingOptionNames, type JudgedRun, type JudgingContext, type JudgingOptions } from './judging.ts'
import { enforce, unjudged, type JudgeRefusal } from './verdict.ts'
import { namesIn, withheldOutput } from './withheld-output.ts'

/** What a judging processor is called. */
export interface JudgingIdentity<TId extends string> {
  readonly id: TId
  readonly name: string
  readonly description: string
}

interface OpenRun {
  readonly judged: JudgedRun
  /** Those of the attempt that is going, and the chunks by which it is known. */
  stream: JudgedStream
  parts: unknown
}

type Hooks = Processor<string, JudgeRefusal, JudgeState>

/** Makes a processor that asks judges; `ask` asks them otherwise than by a model call. */
export function judgingProcessor<TId extends string>(
  identity: JudgingIdentity<TId>,
  judges: readonly Judge[],
  { ask, ...options }: JudgingOptions & { readonly ask?: AskJudges },
): JudgeProcessor<TId> {
  const judging = new Judging(judges, options, ask)
  const runs = new WeakMap<object, OpenRun>()
  const runOf = ({ state }: Pick<JudgingContext, 'state'>): OpenRun => {
    let run = runs.get(state)
    if (!run) runs.set(state, (run = { judged: judging.open(), stream: streamOf(judging), parts: undefined }))
    return run
  }
  const processRunEnd: Hooks['processRunEnd'] = ({ state }) => runs.get(state)?.judged.end()
  return {
    ...identity,
    judges,
    ...(judging.looksAt('input') ? inputHook(judging, runOf) : {}),
    ...(judging.looksAt('text') || judging.looksAt('reasoning') ? streamHooks(judging, runOf) : {}),
    ...(judging.looksAt('tool-output') ? toolHook(judging, runOf) : {}),
    processRunEnd,
  }
}

/** The same for one judge, which is called as its processor is. */
export function judgeProcessor<TId extends string>(
  identity: JudgingIdentity<TId>,
  defaults: Omit<JudgeDefaults, 'id'>,
  options: JudgeOptions & JudgingOptions,
): JudgeProcessor<TId> {
  const ownOptions = judgingOptionNames.filter(name => options[name] !== undefined)
  return judgingProcessor(identity, [judgeOf({ id: identity.id, ...defaults }, options, ownOptions)], options)
}

type RunOf = (context: Pick<JudgingContext, 'state'>) => OpenRun

function inputHook(judging: Judging, runOf: RunOf): Pick<Hooks, 'processInput'> {
  return {
    async processInput(context) {
      const messages = judging.lastMessageOnly ? context.messages.slice(-1) : context.messages
      const texts = messages.map(textOf)
      const replaced = await judging.review(runOf(context).judged, { where: 'input', texts }, context)
      if (replaced.every(text => text === undefined)) return
      const placeholders = new Map(messages.map(({ id }, index) => [id, replaced[index]]))
      return context.messages.map(message => withText(message, placeholders.get(message.id)))
    },
  }
}

function toolHook(judging: Judging, runOf: RunOf): Pick<Hooks, 'processToolResult'> {
  return {
    async processToolResult(context) {
      const { output, error, toolName } = context
      if (judging.exclude.includes(toolName)) return
      const { judged } = runOf(context)
      const reviewed = async (text: string) =>
        (await judging.review(judged, { where: 'tool-output', texts: [text] }, context))[0]
      const text = error === undefined ? textOfValue(output) : textOfError(error)
      const placeholder = await reviewed(text)
      if (placeholder === undefined) return
      if (error !== undefined || typeof output === 'string') return { output: placeholder }
      const form: unknown = JSON.parse(text)
      const left = await reviewed([...namesIn(form)].join('\n'))
      return { output: left === undefined ? withheldOutput(form, placeholder) : placeholder }
    },
  }
}

function streamHooks(judging: Judging, runOf: RunOf): Pick<Hooks, 'processOutputStream' | 'flush'> {
  const judgeFor = (context: JudgingContext): WindowJudge => ({
    ask: passage => judging.rule(runOf(context).judged, passage, context),
    settle(passage, ruling) {
      const { where, text } = passage
      if (ruling === unjudged) return text
      const replaced = enforce(judging.policy, { where, text, ruling }, context)
      return replaced === undefined ? text : replacedText(text, replaced)
    },
  })
  return {
    processOutputStream(context) {
      return streamIn(runOf(context), context, judging).pass(context.part, judgeFor(context))
    },
    flush(context) {
      const { stream } = runOf(context)
      // What was not judged is not shown: an abort leaves no time for it.
      if (context.reason === 'abort' || !stream.isOpen) return
      return stream.flush(context.blockId, judgeFor(context))
    },
  }
}

function streamOf(judging: Judging): JudgedStream {
  const types = (['text', 'reasoning'] as const).filter(place => judging.looksAt(place))
  return new JudgedStream(judging.window, new Set(types.map(place => `${place}-delta` as const)))
}

/** What was held of an attempt that was withdrawn is nobody's any more. */
function streamIn(
  run: OpenRun,
  { streamParts }: Pick<ProcessOutputStreamArgs, 'streamParts'>,
  judging: Judging,
): JudgedStream {
  if (run.parts === streamParts) return run.stream
  run.parts = streamParts
  return (run.stream = streamOf(judging))
}

/** The placeholder, with the white space that was around the text. */
function replacedText(text: string, placeholder: string): string {
  const [, before = ''] = /^(\s*)/.exec(text)!
  return before + placeholder + text.slice(text.trimEnd().length)
}

function textOf({ content }: AgentMessage): string {
  return content.parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function withText(message: AgentMessage, text: string | undefined): AgentMessage {
  if (text === undefined) return message
  const { parts } = message.content
  const first = parts.find(({ type }) => type === 'text')
  const replaced = parts.filter(part => part.type !== 'text' || part === first)
  const content = replaced.map(part => (part === first ? ({ type: 'text', text } as const) : part))
  return { ...message, content: { ...message.content, parts: content } }
}

/** A value as a judge reads it: numbers and the like say nothing. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? ''
}

function textOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
