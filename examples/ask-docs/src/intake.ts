// What a conversation begins with: the folder to read and the first question.
import { defaultQuestion, notOwnDocuments, ownRepository, type CommandLine } from './command-line.ts'

export type Intake = {
  readonly folder: string
  readonly passOver: (path: string) => boolean
  /** Nothing when the person at the prompt asks first. */
  readonly question: string | undefined
}

/** Takes what the command line gives, and this repository and its default question for the rest. */
export function intake({ docs, chat, question }: CommandLine): Intake {
  return {
    folder: docs ?? ownRepository,
    passOver: docs === undefined ? notOwnDocuments : () => false,
    question: question ?? (chat ? undefined : defaultQuestion),
  }
}
