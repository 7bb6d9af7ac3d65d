// The AI SDK's own loop: `streamText`, with a transform for each processor.
import { streamText } from 'ai'
import { messagesOf, readStream, settingsOf, transformsOf } from './settings.mjs'

export { list } from './list.mjs'

export const entry = 'ai'

export const lacks = { add: 'has no list to add to: an array' }

export const notes = { processors: 'transforms', readers: 'five readers in one prepareStep' }

export const prepare = messagesOf

export async function run(work, messages, seen) {
  const result = streamText({ ...settingsOf(work, seen), messages, experimental_transform: transformsOf(work) })
  await readStream(result.stream, seen)
  return { result, steps: await result.steps }
}
