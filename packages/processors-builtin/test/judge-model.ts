// A judge that finds words: what a model would be for a judge, with the calls that were made of it.
import { answeringModel, type ScriptedTurn } from '@lockstep/testing'
import type { MockLanguageModelV4 } from 'ai/test'

/** A passage as it was asked about. */
export interface AskedPassage {
  readonly head: string
  readonly text: string
}

type Prompt = MockLanguageModelV4['doStreamCalls'][number]['prompt']

/** The message of a call about texts. */
export function messageOf(prompt: Prompt): string {
  const { content } = prompt.at(-1)!
  return (content as readonly { readonly type: string; readonly text: string }[])[0]!.text
}

/**
 * What stands between the lines of a message: read as the instructions say, from a line to the next one that is the same.
 * Whatever stands inside of a fence cannot end it.
 */
export function passagesIn(prompt: Prompt): readonly AskedPassage[] {
  const message = messageOf(prompt)
  const fence = message.split('\n')[1]!
  const sections = `\n${message}`.split(`\n${fence}\n`)
  return sections.flatMap((text, index) => {
    if (index % 2 === 0) return []
    return [{ head: sections[index - 1]!.trim().split('\n').at(-1)!, text }]
  })
}

/** The texts of a call that are to be judged. */
export function judgedTexts(prompt: Prompt): readonly string[] {
  return passagesIn(prompt).flatMap(({ head, text }) => (head.startsWith('Text ') ? [text] : []))
}

/** A model that names a category for each word that it finds. */
export function wordJudge(words: { readonly [word: string]: string }, score = 0.9): MockLanguageModelV4 {
  return answeringModel(({ prompt }) =>
    verdict(
      judgedTexts(prompt).flatMap((text, index) =>
        Object.entries(words).flatMap(([word, category]) =>
          text.includes(word) ? [{ text: index + 1, category, score }] : [],
        ),
      ),
    ),
  )
}

/** The answer of a judge. */
export function verdict(findings: readonly unknown[]): ScriptedTurn {
  return { text: JSON.stringify({ findings }), usage: { input: 100, output: 7 } }
}
