// Lockstep by its front door, `agent.stream`, from the built files of the workspace.
import { tool } from 'ai'
import { z } from 'zod'
import { Agent } from '@lockstep/agent'
import { languageModel } from '../../language-model.mjs'
import { packedHome } from '../../installation.mjs'
import { historyOf } from '../../script.mjs'
import { passing, reading } from './processors.mjs'

export { list } from './list.mjs'

export const entry = '@lockstep/agent'

export const home = packedHome

export const prepare = work => [...historyOf(work.history), { role: 'user', content: 'Go' }]

export async function run(work, messages, seen) {
  const agent = new Agent({
    name: 'bench',
    model: languageModel(work),
    tools: { echo: tool({ inputSchema: z.object({ n: z.number() }), execute: () => seen.tool() }) },
    inputProcessors: reading(work, seen),
    outputProcessors: passing(work),
    defaultOptions: { maxSteps: work.steps + 1 },
  })
  const stream = agent.stream(messages)
  for await (const chunk of stream.fullStream) if (chunk.type === 'text-delta') seen.text(chunk.payload.text)
  return { agent, stream, result: await stream.result }
}
