// The way in: a run as a generator. What makes a run is loaded with its first read, so that importing the loop costs next to nothing.
import type { Chunk } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import { ChunkChannel, type ChunkGenerator, type Emit } from './chunk-channel.ts'
import type { LoopResult } from './loop-result.ts'
import type { LoopState } from './loop-state.ts'
import type { RunLoopOptions } from './options.ts'
import type { ApprovalDecision } from '../tools/pending-approval.ts'
import type { Run } from './run.ts'

/**
 * Runs an agent's loop. The generator yields the run's chunks and returns its result; it does not throw for what can
 * happen in a run: `stopReason` and `error` of the result say it.
 *
 * *Order*: nothing happens before the first read. Leaving the generator early aborts the run.
 */
export function runLoop<TOOLS extends ToolSet = ToolSet, OBJECT = undefined>(
  options: RunLoopOptions<TOOLS, OBJECT>,
): ChunkGenerator<Chunk, LoopResult<TOOLS, OBJECT>> {
  return looped(options, ({ begunRun }, emit) => begunRun(options as unknown as RunLoopOptions, emit))
}

/** What a run is resumed with: everything `runLoop` takes but what the state has. */
export type ResumeLoopOptions<TOOLS extends ToolSet = ToolSet, OBJECT = unknown> = Omit<
  RunLoopOptions<TOOLS, OBJECT>,
  'messageList' | 'runId'
>

/** A run that was put down, and what a person decided about its open calls. */
export interface Resumption {
  readonly state: LoopState
  readonly decisions?: readonly ApprovalDecision[]
}

/**
 * Goes on with a run that was suspended, in this process or another. It is the same run: it takes the tools, the processors
 * and the other options again, and no tool that ran is run again. Calls that nobody decided about suspend it once more.
 *
 * *Throws*, on the first read: `invalid-state`, `unsupported-state`, `processors-changed`, `unknown-approval`,
 * `already-decided`, `unknown-tool`, `invalid-decision`. Nothing has happened then.
 */
export function resumeLoop<TOOLS extends ToolSet = ToolSet, OBJECT = undefined>(
  resumption: Resumption,
  options: ResumeLoopOptions<TOOLS, OBJECT>,
): ChunkGenerator<Chunk, LoopResult<TOOLS, OBJECT>> {
  return looped(options, ({ resumedRun }, emit) =>
    resumedRun(resumption, options as unknown as ResumeLoopOptions, emit),
  )
}

type Machinery = typeof import('./execute-run.ts')

let machinery: Promise<Machinery> | undefined

function looped<TOOLS extends ToolSet, OBJECT>(
  { steering }: Pick<RunLoopOptions, 'steering'>,
  start: (machinery: Machinery, emit: Emit<Chunk>) => ReturnType<Machinery['begunRun']>,
): ChunkGenerator<Chunk, LoopResult<TOOLS, OBJECT>> {
  let run: Run | undefined
  let isLeft = false
  const leave = () => {
    isLeft = true
    run?.abort(new DOMException('The reader left the stream.', 'AbortError'))
  }
  const produce = async (emit: Emit<Chunk>) => {
    let result: LoopResult | undefined
    try {
      const loaded = await (machinery ??= import('./execute-run.ts'))
      const started = start(loaded, emit)
      run = started.run
      if (isLeft) leave()
      result = await loaded.executeRun(started)
      return result as unknown as LoopResult<TOOLS, OBJECT>
    } finally {
      steering?.end(result?.stopReason ?? 'error')
      run?.close()
    }
  }
  return new ChunkChannel(produce, leave)
}
