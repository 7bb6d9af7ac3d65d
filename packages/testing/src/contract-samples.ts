// What a processor under contract is given to act on: the samples of its author, and those that every processor gets.
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { MessageInput } from '@lockstep/message-list'

/** A text of the model, and what has to be shown of it, when the author says so. */
export interface TextSample {
  readonly text: string
  readonly shown: string
}

/** What the author of a processor gives it to act on. Each is added to the samples that every processor gets. */
export interface ContractSamples {
  /** Texts that the model says; with `shown`, what has to be on the screen however the text is cut. */
  readonly texts?: readonly (string | TextSample)[]
  /** What the user says. */
  readonly inputs?: readonly MessageInput[]
  /** Inputs of tool calls that the model makes. */
  readonly toolInputs?: readonly unknown[]
  /** What tools give. */
  readonly toolResults?: readonly unknown[]
  /** Whole runs of the model, call by call. The tools are `lookup`, `act` and `fails`. */
  readonly scripts?: readonly (readonly ScriptedTurn[])[]
}

/** Texts that no guard has a reason to touch. */
export const plainTexts: readonly string[] = [
  'Yes.',
  'The train leaves at noon and arrives in the evening.',
  'First paragraph.\n\nSecond one, with *emphasis* and `code`.',
]

/** Texts that are hard to cut: pairs of surrogates, joined and combining characters, right to left. */
export const hardTexts: readonly string[] = [
  'Ça va? 👩‍👩‍👧‍👦 and e\u0301, 𝒳 and 𝒴, שלום, 你好 👍🏽.',
  '😀😀😀',
  'a\u200bb\u200d\ufeffc\r\n\td',
]

/** The text and what has to be shown of it, if that is known. */
export function textSample(sample: string | TextSample): { readonly text: string; readonly shown?: string } {
  return typeof sample === 'string' ? { text: sample } : sample
}
