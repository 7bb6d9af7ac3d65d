// A run of one processor, without a loop around it.
import { MessageList } from '@lockstep/message-list'
import { ProcessorRunner, RequestContext, type Chunk, type Processor, type StreamChain } from '@lockstep/processors'

export const position = { stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 }

export interface RedactorRun {
  readonly list: MessageList
  readonly runner: ProcessorRunner
  readonly chain: StreamChain
}

export function runOf(processor: Processor): RedactorRun {
  const list = new MessageList()
  const runner = new ProcessorRunner(
    {
      ...(processor.processInput || processor.processLLMRequest ? { inputProcessors: [processor] } : {}),
      outputProcessors: [processor],
    },
    {
      runId: 'run',
      list,
      abortSignal: new AbortController().signal,
      requestContext: new RequestContext(),
      tracingContext: {},
      writeData: () => Promise.resolve(),
      callModel: () => Promise.reject(new Error('no model here')),
      resolveModel: () => {
        throw new Error('no model here')
      },
    },
  )
  return { list, runner, chain: runner.streamChain(position) }
}

export function delta(text: string, type: 'text-delta' | 'reasoning-delta' = 'text-delta', id = 't'): Chunk {
  return { type, runId: 'run', from: 'AGENT', payload: { id, text } }
}

export function inputDelta(text: string, id = 'c'): Chunk {
  return { type: 'tool-input-delta', runId: 'run', from: 'AGENT', payload: { id, delta: text } }
}

/** The chunks that leave for a chunk. */
export async function pass({ chain }: RedactorRun, chunk: Chunk): Promise<readonly Chunk[]> {
  return [(await chain.pass(chunk)) ?? []].flat()
}

export function textOf(chunks: readonly Chunk[]): string {
  return chunks
    .map(chunk =>
      chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
        ? chunk.payload.text
        : chunk.type === 'tool-input-delta'
          ? chunk.payload.delta
          : '',
    )
    .join('')
}

/** What a reader has seen after each piece of a text, and at its end. */
export async function shownAfterEach(processor: Processor, pieces: readonly string[]): Promise<readonly string[]> {
  const run = runOf(processor)
  const shown: string[] = []
  let text = ''
  for (const piece of pieces) shown.push((text += textOf(await pass(run, delta(piece)))))
  shown.push(text + textOf(await run.chain.flush('block-end', 't')))
  return shown
}

/** What a reader sees of a text that is streamed in these pieces. */
export async function streamed(processor: Processor, pieces: readonly string[]): Promise<string> {
  return (await shownAfterEach(processor, pieces)).at(-1)!
}

/** Cuts a text at places that are given as any numbers. */
export function cut(text: string, cuts: readonly number[]): readonly string[] {
  const at = [...new Set(cuts.map(place => place % (text.length + 1)))].sort((one, other) => one - other)
  return [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length))
}

/** How many texts a law tries: `LOCKSTEP_LAW_RUNS` for a long run. */
export function runCount(usual: number): number {
  return Number(process.env['LOCKSTEP_LAW_RUNS'] ?? usual)
}
