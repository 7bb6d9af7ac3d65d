// A stream whose making is loaded with the first read: what most programs never use costs nobody's start.

/**
 * A stream that is opened when it is first read, and cancels what it opened.
 *
 * *Reading*: with a `highWaterMark` of 0 it waits for a reader, with 1 it begins at once.
 */
export function streamOnDemand<T>(
  open: () => Promise<ReadableStream<T>>,
  strategy: { readonly highWaterMark: 0 | 1 },
): ReadableStream<T> {
  let opened: Promise<ReadableStreamDefaultReader<T>> | undefined
  const reader = () => (opened ??= open().then(stream => stream.getReader()))
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const next = await (await reader()).read()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel(reason) {
        await (await reader()).cancel(reason)
      },
    },
    strategy,
  )
}
