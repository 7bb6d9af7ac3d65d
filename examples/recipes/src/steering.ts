// Speaking to a run while it goes: one message enters before the next step, another when there is an answer.
import { Agent, type Delivery } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { z } from 'zod'

const tools = { search: tool({ inputSchema: z.object({}), execute: () => '17 hotels' }) }
const model = scriptedModel([
  { toolCalls: [{ toolName: 'search', input: {} }] },
  'The cheapest one with a pool is the Lido.',
  'It is 80 euros.',
])
const stream = new Agent({ name: 'guide', model, tools }).stream('Find a hotel.')
const deliveries: Promise<Delivery>[] = [stream.followUp('What does it cost?')]
for await (const chunk of stream.fullStream)
  if (chunk.type === 'tool-result') deliveries.push(stream.steer('With a pool, please.'))

console.log(await Promise.all(deliveries))
const { messageList } = await stream.result
for (const { role, content } of messageList.getMessages())
  console.log(role, content.parts.map(part => (part.type === 'text' ? part.text : part.type)).join(' | '))
