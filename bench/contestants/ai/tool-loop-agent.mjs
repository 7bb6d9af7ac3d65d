// The AI SDK's agent: `ToolLoopAgent`, streaming.
import { ToolLoopAgent } from 'ai'
import { messagesOf, readStream, settingsOf, transformsOf } from './settings.mjs'

export const lacks = { list: 'see streamText', installation: 'see streamText' }

export const notes = { processors: 'transforms', readers: 'five readers in one prepareStep' }

export const prepare = messagesOf

export async function run(work, messages, seen) {
  const agent = new ToolLoopAgent(settingsOf(work, seen))
  const result = await agent.stream({ messages, experimental_transform: transformsOf(work) })
  await readStream(result.stream, seen)
  return { agent, result, steps: await result.steps }
}
