// Shows an answer while it comes. A terminal can take words back, so it sees drafts live; a pipe gets accepted text only.
import { clearScreenDown, moveCursor } from 'node:readline'
import type { AgentStream } from '@lockstep/agent'

/** Where an answer is written: the standard output, or what a test has in its place. */
export type Screen = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

type Views = Pick<AgentStream, 'fullStream' | 'textStream'>

/** Writes the text of a run as it comes. *Throws* what the run throws, and the signal's reason when it is aborted. */
export async function showAnswer(run: Views, screen: Screen): Promise<void> {
  if (screen.isTTY === true) return showDrafts(run, screen)
  for await (const text of run.textStream) screen.write(text)
}

async function showDrafts(run: Views, screen: Screen): Promise<void> {
  let draft = ''
  for await (const chunk of run.fullStream) {
    if (chunk.type === 'step-start') draft = ''
    else if (chunk.type === 'text-delta') {
      draft += chunk.payload.text
      screen.write(chunk.payload.text)
    } else if (chunk.type === 'step-reset') {
      takeBack(draft, screen)
      draft = ''
    }
  }
}

function takeBack(draft: string, screen: Screen): void {
  const { columns = 80 } = screen
  const rows = draft.split('\n').reduce((count, line) => count + Math.max(1, Math.ceil(line.length / columns)), 0)
  moveCursor(screen, -columns, 1 - rows)
  clearScreenDown(screen)
}
