// Before tools start, every call passes the processors: denied, answered without running, or run with another input.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { z } from 'zod'

const path = z.object({ path: z.string() })
const tools = {
  read: tool({ inputSchema: path, execute: ({ path: file }) => `the content of ${file}` }),
  remove: tool({ inputSchema: path, execute: ({ path: file }) => `removed ${file}` }),
}

const cache = new Map([['/etc/motd', 'Welcome.']])
const warden: Processor = {
  id: 'warden',
  processToolCall({ toolName, input }) {
    const { path: file } = input as z.infer<typeof path>
    if (toolName === 'remove') return { deny: 'Nothing is removed here.' }
    const known = cache.get(file)
    return known === undefined ? { input: { path: `/srv${file}` } } : { output: known }
  },
}

const call = (toolName: string, file: string) => ({ toolName, input: { path: file } })
const model = scriptedModel([
  { toolCalls: [call('read', '/notes'), call('read', '/etc/motd'), call('remove', '/notes')] },
  'Done.',
])
const agent = new Agent({ name: 'files', model, tools, outputProcessors: [warden] })
const { trace } = await agent.generate('Read the notes, then remove them.')
console.log(String(trace))
const results = model.doStreamCalls[1]?.prompt.at(-1)?.content as { toolName: string; output: object }[]
for (const { toolName, output } of results) console.log(toolName, JSON.stringify(output))
