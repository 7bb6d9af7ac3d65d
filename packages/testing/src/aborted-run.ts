// A run that is aborted in the middle of a text: the model has said something, and its text has no end.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { MockLanguageModelV4 } from 'ai/test'
import type { Cut } from './cut-model.ts'
import { runWith, type ProcessorRun, type RunWithOptions } from './run-with.ts'

/** What the model does before, and what it says when the run is aborted. */
interface UnfinishedScript {
  readonly turns: readonly ScriptedTurn[]
  readonly text: string
  readonly cut: Cut
}

/** Plays the turns, says the text, and aborts when all of it has passed the processors. */
export function runAborted(
  processor: Processor,
  { turns, text, cut }: UnfinishedScript,
  options: RunWithOptions = {},
): Promise<ProcessorRun> {
  const controller = new AbortController()
  const script = scriptedModel(turns)
  let callCount = 0
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't1' },
    ...cut(text).map(delta => ({ type: 'text-delta' as const, id: 't1', delta })),
  ]
  const unfinished = () => {
    let index = 0
    return new ReadableStream<LanguageModelV4StreamPart>(
      {
        // The next part is asked for when the processors have had the one before.
        pull(reader) {
          if (index < parts.length) reader.enqueue(parts[index++]!)
          else controller.abort(new Error('The reader has had enough.'))
        },
      },
      { highWaterMark: 0 },
    )
  }
  const model = new MockLanguageModelV4({
    provider: script.provider,
    modelId: script.modelId,
    doStream: given =>
      callCount++ < turns.length ? script.doStream(given) : Promise.resolve({ stream: unfinished() }),
  })
  return runWith(processor, { ...options, model, abortSignal: controller.signal })
}
