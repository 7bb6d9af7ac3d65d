// An agent as the AI SDK knows agents: for createAgentUIStreamResponse, DirectChatTransport and other places that take one.
import { Agent } from '@lockstep/agent'
import { toAISDKAgent } from '@lockstep/agent/ai-sdk'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { createAgentUIStreamResponse, tool } from 'ai'
import { z } from 'zod'

const tools = { double: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 }) }
const model = scriptedModel([{ toolCalls: [{ toolName: 'double', input: { n: 21 } }] }, 'It is 42.'])
const agent = toAISDKAgent(new Agent({ name: 'doubler', model, tools }), { tools })

const response = await createAgentUIStreamResponse({
  agent,
  uiMessages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Double 21.' }] }],
})
for (const line of (await response.text()).split('\n').filter(text => text.startsWith('data: {')))
  console.log((JSON.parse(line.slice(6)) as { readonly type: string }).type)
