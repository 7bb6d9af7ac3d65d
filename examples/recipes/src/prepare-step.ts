// Shaping one step: what `prepareStep` returns is for the prompt of this step, and leaves the conversation alone.
import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { z } from 'zod'

const tools = { look: tool({ inputSchema: z.object({}), execute: () => 'sunny' }) }
const model = scriptedModel([{ toolCalls: [{ toolName: 'look', input: {} }] }, 'It is sunny.'])
const agent = new Agent({ name: 'weather', model, tools })

const { messageList } = await agent.generate(['An old story.', 'How is the weather?'], {
  prepareStep: ({ stepNumber, messages }) => ({
    messages: messages.slice(1),
    ...(stepNumber > 0 ? { toolChoice: 'none' } : {}),
  }),
})
for (const { prompt, toolChoice } of model.doStreamCalls)
  console.log(prompt.map(message => message.role).join(' '), JSON.stringify(toolChoice))
console.log(messageList.getMessages().length, 'messages are still there')
