// Whether a reply that was written before the plan was known says what the plan then asks for.
import type { BatchPrompt } from './batch-prompt-builder.ts'
import type { Issue, IssueCode } from './issue.ts'
import type { Line } from './line.ts'
import type { Reply } from './reply.ts'

/** What a turn has to say once its steps are entered. */
export interface Speech {
  /** What the entered steps say. */
  readonly says: readonly Line[]
  /** The question, if there is one. */
  readonly ask: Line | undefined
}

// A reply that took such a value for granted says something false.
const contradicting: readonly IssueCode[] = ['invalid-value', 'locked', 'not-asked', 'changed-since-asked']

/** The issues that a reply written together with the refused values cannot have known. */
export function contradictions(issues: readonly Issue[]): readonly Issue[] {
  return issues.filter(({ code }) => contradicting.includes(code))
}

/** Tells whether a reply says these lines, in the words its prompt gave them, and asks this question and no other. */
export function fits(reply: Reply, prompt: BatchPrompt, { says, ask }: Speech): boolean {
  if (reply.asks !== (ask?.stepId ?? null)) return false
  const end = prompt.agenda.findIndex(line => line.type === 'ask' && line.stepId === reply.asks)
  const passed = reply.asks === null ? prompt.agenda : prompt.agenda.slice(0, end + 1)
  const promised = passed.filter((line, index) => line.type === 'say' || index === end)
  const due = ask === undefined ? says : [...says, ask]
  return promised.length === due.length && promised.every((line, index) => sameLine(line, due[index]))
}

function sameLine(promised: Line, due: Line | undefined): boolean {
  return promised.stepId === due?.stepId && promised.prompt === due.prompt
}
