// Which sections a run has read, by its own tool results: what the guard accepts as citations and the answer lists as sources.
import { z } from 'zod'

const readOutput = z.object({ found: z.literal(true), reference: z.string() })

type StepWithResults = { readonly toolResults: readonly { readonly output: unknown }[] }

/** Lists the references of the sections that these steps have read, in order, each once. */
export function readReferences(steps: readonly StepWithResults[]): readonly string[] {
  const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => readOutput.safeParse(output)))
  return [...new Set(outputs.flatMap(({ data }) => (data === undefined ? [] : [data.reference])))]
}
