// A model that answers every call, however many there are: for judges, summarisers and other models beside the run's own.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MockLanguageModelV4 } from 'ai/test'

type FixedTurn = Exclude<ScriptedTurn, (...given: never) => unknown>

/**
 * A model that gives `answer(options, callNumber)` in each call; calls are counted from 0.
 *
 * @example
 * const judge = answeringModel(({ prompt }) => (JSON.stringify(prompt).includes('bomb') ? 'no' : 'yes'))
 */
export function answeringModel(
  answer: FixedTurn | ((options: LanguageModelV4CallOptions, callNumber: number) => ScriptedTurn),
): MockLanguageModelV4 {
  let callCount = 0
  return new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'answering',
    doStream: options => {
      const callNumber = callCount++
      const turn = typeof answer === 'function' ? answer(options, callNumber) : answer
      return scriptedModel([withOwnIds(turn, callNumber)]).doStream(options)
    },
  })
}

/** The calls of a turn with ids that no other turn has. */
function withOwnIds(turn: ScriptedTurn, callNumber: number): ScriptedTurn {
  if (typeof turn !== 'object' || !('toolCalls' in turn)) return turn
  const { toolCalls = [] } = turn
  return {
    ...turn,
    toolCalls: toolCalls.map((call, index) => ({ toolCallId: `call-${callNumber}-${index}`, ...call })),
  }
}
