// The port to the model through the agent loop: processors, tools, retries, timeouts and aborts apply to each call.
import { runLoop, type LoopResult, type RunLoopOptions } from '@lockstep/agent-loop'
import { MessageList } from '@lockstep/message-list'
import { planProcessors, type Chunk } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'
import { BatchError } from '../errors.ts'
import type { AnswerStream, CallModel, ModelAnswer } from './model-call.ts'

/** What a run of the loop takes that a batch does not decide itself. */
export type LoopModelOptions<TOOLS extends ToolSet = ToolSet> = Omit<
  RunLoopOptions<TOOLS>,
  'messageList' | 'structuredOutput' | 'abortSignal' | 'hold'
> & {
  /**
   * The conversation up to what the user says now. Each call works on a fork of it: what a batch writes to itself, the
   * instructions and the JSON, never enters it. Absent: the call knows what the user says now, and nothing before.
   */
  readonly messageList?: MessageList
}

/**
 * Makes the port to a model from the options of the agent loop: each call of a turn is a run of its own.
 *
 * *Order:* the answer is read as it is written, unless a processor could still change or withdraw it as a whole
 * (`processLLMResponse`, `processOutputStep`, `processToolCall`, `processOutputResult`, or retries); then it is read
 * once it was accepted. Fields are taken from the last step, after all rounds of tools.
 *
 * *Throws*, as a turn reports it: `refused` when a processor refuses the answer, `model-failed` for everything else.
 *
 * *Example:* `executor.executeBatch({ session, route, input, callModel: loopModel({ model }) })`
 */
export function loopModel<TOOLS extends ToolSet = ToolSet>(options: LoopModelOptions<TOOLS>): CallModel {
  const isSettledLate = canChangeLate(options)
  return async function* answerOf(prompt, { abortSignal }): AnswerStream {
    const { jsonSchema } = await import('ai')
    const loop = runLoop<TOOLS, unknown>({
      ...options,
      messageList: conversationOf(prompt, options.messageList),
      structuredOutput: { schema: jsonSchema(prompt.schema), name: 'reply' },
      ...(abortSignal !== undefined && { abortSignal }),
    } as RunLoopOptions<TOOLS, unknown>)
    return yield* answerOfRun(loop, isSettledLate)
  }
}

/** Tells whether an answer that was written can still become another one. */
function canChangeLate<TOOLS extends ToolSet>(options: LoopModelOptions<TOOLS>): boolean {
  const plan = planProcessors(options)
  const late = [plan.processLLMResponse, plan.processOutputStep, plan.processToolCall, plan.processOutputResult]
  const canRetry = (options.maxProcessorRetries ?? 0) > 0 || (options.errorProcessors?.length ?? 0) > 0
  return canRetry || late.some(processors => processors.length > 0)
}

function conversationOf(prompt: BatchPrompt, conversation: MessageList | undefined): MessageList {
  const list = conversation?.fork() ?? new MessageList()
  list.addSystem(prompt.system)
  if (conversation === undefined && prompt.input !== undefined) list.add(prompt.input, 'input')
  // Providers want a message of the user, also where the conversation is begun by the other side.
  if (list.get.all.db().length === 0) list.add('(The user has not spoken yet.)', 'context')
  return list
}

async function* answerOfRun(
  loop: AsyncGenerator<Chunk, LoopResult<ToolSet, unknown>, void>,
  isSettledLate: boolean,
): AnswerStream {
  let hasYielded = false
  try {
    for (;;) {
      const next = await loop.next()
      if (next.done) return answerOfResult(next.value)
      const chunk = next.value
      if (isSettledLate) continue
      if (chunk.type === 'text-delta') {
        hasYielded = true
        yield chunk.payload.text
      } else if (hasYielded && (chunk.type === 'step-start' || chunk.type === 'step-reset')) {
        hasYielded = false
        yield { type: 'reset' }
      }
    }
  } finally {
    await loop.return(undefined as never)
  }
}

function answerOfResult(result: LoopResult<ToolSet, unknown>): ModelAnswer {
  const { stopReason, tripwire, totalUsage } = result
  if (stopReason === 'error') throw result.error
  if (stopReason === 'aborted') throw result.abortReason
  if (tripwire !== undefined) {
    throw new BatchError('refused', `Processor "${tripwire.processorId}" refused the reply: ${tripwire.reason}`, {
      cause: tripwire,
    })
  }
  if (result.object === undefined) {
    throw new BatchError(
      'model-failed',
      `The run of the model ended with "${stopReason}" and without a reply. Let it end by itself: a batch cannot wait for anybody.`,
    )
  }
  return { object: result.object, usage: totalUsage }
}
