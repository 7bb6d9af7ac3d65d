// What a conversation begins with, as a route of two steps: what is known is not asked, and what is asked has its words.
import { createRoute, createSession, defineFields, plan } from '@lockstep/batch-executor'
import { z } from 'zod'
import { defaultQuestion, notOwnDocuments, ownRepository, type CommandLine } from './command-line.ts'

const fields = defineFields(z.object({ question: z.string().min(1), docs: z.string().min(1) }))
const route = createRoute({
  title: 'Ask the docs',
  fields,
  optionalFields: ['docs'],
  steps: [
    { id: 'ask-question', prompt: 'What do you want to know?', collect: ['question'] },
    { id: 'ask-folder', prompt: 'Which folder holds the documents?', collect: ['docs'], maxAsks: 0 },
  ],
})

export type Intake = {
  readonly folder: string
  readonly passOver: (path: string) => boolean
  /** Nothing when the person at the prompt asks first. */
  readonly question: string | undefined
  /** What to ask that person for; nothing when everything is known. */
  readonly ask: string | undefined
}

/** Takes what the command line gives; a run without a prompt falls back on the default question. */
export function intake({ docs, chat, question = chat ? undefined : defaultQuestion }: CommandLine): Intake {
  const session = createSession({ fields, data: { docs, question } })
  return {
    folder: session.data.docs ?? ownRepository,
    passOver: session.data.docs === undefined ? notOwnDocuments : () => false,
    question: session.data.question,
    ask: plan(session, route).ask?.prompt,
  }
}
