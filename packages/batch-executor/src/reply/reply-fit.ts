// Whether a reply that was written before the plan was known says what the plan then asks for.
import type { BatchPrompt } from '../prompt/batch-prompt-builder.ts'
import type { Issue, IssueCode } from '../issue.ts'
import type { Line } from '../turn/line.ts'
import { askId, type Reply } from './reply.ts'
import { linesOf, type Speech } from '../turn/speech.ts'

// A reply that took such a value for granted says something false.
const contradicting: readonly IssueCode[] = ['invalid-value', 'not-said', 'locked', 'not-asked', 'changed-since-asked']

/** The issues that a reply written together with the refused values cannot have known. */
export function contradictions(issues: readonly Issue[]): readonly Issue[] {
  return issues.filter(({ code }) => contradicting.includes(code))
}

/** Tells whether a reply says these lines, in the words its prompt gave them, and asks this question and no other. */
export function fits({ asks }: Reply, prompt: BatchPrompt, speech: Speech): boolean {
  const { routeId, ask } = speech
  const isAsked = ask === undefined ? asks === null : asks === ask.stepId || asks === askId(routeId, ask.stepId)
  if (!isAsked) return false
  const agenda = agendaOf(prompt, routeId)
  const end = agenda.findIndex(line => line.type === 'ask' && line.stepId === ask?.stepId)
  const passed = ask === undefined ? agenda : agenda.slice(0, end + 1)
  const promised = passed.filter((line, index) => line.type === 'say' || index === end)
  const due = linesOf(speech)
  return promised.length === due.length && promised.every((line, index) => sameLine(line, due[index]))
}

function agendaOf(prompt: BatchPrompt, routeId: string | null): readonly Line[] {
  if (routeId === prompt.routeId) return prompt.agenda
  return prompt.others.find(other => other.routeId === routeId)?.agenda ?? []
}

function sameLine(promised: Line, due: Line | undefined): boolean {
  return promised.stepId === due?.stepId && promised.prompt === due.prompt
}
