// What a list of messages costs: to load stored ones, to add them one by one, and a prompt after one more.
import { medianOf } from '../rounds.mjs'

const storedMessages = count =>
  Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 ? 'assistant' : 'user',
    createdAt: new Date(1e12 + index * 1000).toISOString(),
    threadId: 't',
    resourceId: 'r',
    content: { format: 2, parts: [{ type: 'text', text: `message number ${index}` }] },
  }))

export async function measure({ list }, { operation, count }, window) {
  const timed = async work => {
    const start = performance.now()
    const result = await work()
    return { result, milliseconds: performance.now() - start }
  }
  if (operation === 'prompt') {
    const messages = await list.load(storedMessages(count))
    await list.prompt(messages)
    return medianOf(async () => {
      list.addOne(messages, 'one more')
      return { time: (await timed(() => list.prompt(messages))).milliseconds }
    }, window)
  }
  return medianOf(async () => {
    const stored = storedMessages(count)
    const { result, milliseconds } = await timed(() => list[operation](stored))
    if (list.countOf(result) !== count) throw new Error(`${list.countOf(result)} messages instead of ${count}.`)
    return { time: milliseconds }
  }, window)
}
