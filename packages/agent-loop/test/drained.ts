// Runs a loop to its end for the tests of this package.
import { runLoop, type LoopResult, type RunLoopOptions } from '@lockstep/agent-loop'
import { MessageList } from '@lockstep/message-list'
import type { Chunk } from '@lockstep/processors'

export interface Drained {
  readonly result: LoopResult
  readonly chunks: readonly Chunk[]
  readonly types: readonly Chunk['type'][]
}

export type DrainOptions = Omit<RunLoopOptions, 'messageList'> & { readonly messageList?: MessageList }

/** The result and every chunk of a run that is asked 'Hello' unless it has a list. */
export async function drain(options: DrainOptions): Promise<Drained> {
  let count = 0
  const generateId = () => `id-${++count}`
  const messageList = options.messageList ?? new MessageList({ generateId }).add('Hello', 'input')
  const loop = runLoop({ generateId, ...options, messageList })
  const chunks: Chunk[] = []
  for (;;) {
    const next = await loop.next()
    if (next.done) return { result: next.value, chunks, types: chunks.map(chunk => chunk.type) }
    chunks.push(next.value)
  }
}

/** What a reader who honours `step-reset` has on the screen at the end: the text of each block, steps apart. */
export function screenOf(chunks: readonly Chunk[]): string {
  const steps: Map<string, string>[] = []
  let step = 0
  for (const chunk of chunks) {
    if (chunk.type === 'step-start') step = chunk.payload.stepNumber
    if (chunk.type === 'step-reset') steps.length = chunk.payload.stepNumber
    if (chunk.type !== 'text-start' && chunk.type !== 'text-delta') continue
    const blocks = (steps[step] ??= new Map<string, string>())
    const { id } = chunk.payload
    blocks.set(id, (blocks.get(id) ?? '') + (chunk.type === 'text-delta' ? chunk.payload.text : ''))
  }
  return Array.from(steps, blocks => [...(blocks?.values() ?? [])].map(wellFormed).join('')).join('|')
}

/** As text is stored: half a surrogate pair cannot be. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}
