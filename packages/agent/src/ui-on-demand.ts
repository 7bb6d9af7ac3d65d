// A UI message stream whose making is loaded with the first read: most runs are read by nobody's page.
import type { Chunk } from '@lockstep/processors'
import type { InferUIMessageChunk, UIMessage } from 'ai'
import type { UIMessageStreamOptions } from './ui-message-stream.ts'

/** As `toUIMessageStream`, for a view that is open already. */
export function uiStreamOnDemand<UI_MESSAGE extends UIMessage>(
  view: AsyncGenerator<Chunk, void, void>,
  options: UIMessageStreamOptions<UI_MESSAGE>,
): ReadableStream<InferUIMessageChunk<UI_MESSAGE>> {
  let reader: Promise<ReadableStreamDefaultReader<InferUIMessageChunk<UI_MESSAGE>>> | undefined
  const open = async () => {
    const { toUIMessageStream } = await import('./ui-message-stream.ts')
    return toUIMessageStream<UI_MESSAGE>(view, options).getReader()
  }
  return new ReadableStream<InferUIMessageChunk<UI_MESSAGE>>(
    {
      async pull(controller) {
        reader ??= open()
        const next = await (await reader).read()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel() {
        await view.return()
      },
    },
    { highWaterMark: 0 },
  )
}
