// What a turn has to say once its steps are entered.
import type { Line } from './line.ts'

/** What the entered steps say, and the question of the plan that is left. */
export interface Speech {
  readonly routeId: string | null
  readonly says: readonly Line[]
  readonly ask: Line | undefined
}

/** All lines of a speech, the question last. */
export function linesOf({ says, ask }: Speech): readonly Line[] {
  return ask === undefined ? says : [...says, ask]
}

/** Tells whether there is something to say and all of it has its words already. */
export function isFixed(speech: Speech): boolean {
  const lines = linesOf(speech)
  return lines.length > 0 && lines.every(line => line.verbatim)
}
