// The text of a run as it comes, for readers that cannot take anything back.
import type { Chunk } from '@lockstep/processors'

/** What a text view needs to know about the run. */
export interface TextViewOptions {
  /** Keep the text of a step until the step is accepted, because the run's processors may withdraw it. */
  readonly holdSteps: boolean
}

const accepting: ReadonlySet<Chunk['type']> = new Set([
  'tool-result',
  'tool-error',
  'tool-output-denied',
  'step-finish',
  'finish',
])

/** The text of accepted steps. A tripwire ends it; an error or an abort is thrown. */
export async function* textView(
  chunks: AsyncIterable<Chunk>,
  options: () => Promise<TextViewOptions>,
): AsyncGenerator<string, void, void> {
  const { holdSteps } = await options()
  let held: string[] = []
  for await (const chunk of chunks) {
    if (chunk.type === 'text-delta') {
      if (holdSteps) held.push(chunk.payload.text)
      else yield chunk.payload.text
    } else if (chunk.type === 'step-reset') held = []
    else if (chunk.type === 'tripwire') return
    else if (chunk.type === 'error') throw chunk.payload.error
    else if (chunk.type === 'abort') throw chunk.payload.reason
    else if (accepting.has(chunk.type)) {
      yield* held
      held = []
    }
  }
}
