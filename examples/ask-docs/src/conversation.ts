// A conversation with the agent: each question is one run, and what was said before goes with it.
import type { AgentMessage } from '@lockstep/agent'
import type { DocsAgent } from './docs-agent.ts'
import { showAnswer, type Screen } from './answer-view.ts'
import { readReferences } from './read-references.ts'

export class Conversation {
  readonly #agent: DocsAgent
  readonly #screen: Screen
  #said: readonly AgentMessage[] = []

  constructor(agent: DocsAgent, screen: Screen) {
    this.#agent = agent
    this.#screen = screen
  }

  /** Asks, and writes answer, sources and trace. *Throws* the run's error, and the signal's reason when aborted. */
  async ask(question: string, abortSignal: AbortSignal): Promise<void> {
    const run = this.#agent.stream(question, { context: this.#said, abortSignal })
    await showAnswer(run, this.#screen)
    const trace = await run.trace
    const result = await run.result
    this.#said = result.messageList.get.all.db()
    this.#screen.write(`${endingOf(result)}\n\nTrace\n${trace.toString()}\n`)
  }
}

function endingOf({ text, steps, tripwire }: Awaited<ReturnType<DocsAgent['generate']>>): string {
  if (tripwire !== undefined) return `\nThe answer was withheld by ${tripwire.processorId}: ${tripwire.reason}`
  const cited = readReferences(steps).filter(reference => text.includes(`[${reference}]`))
  return cited.length === 0 ? '' : `\n\nSources\n${cited.map(reference => `  ${reference}`).join('\n')}`
}
