// A program of its own: runs under the real `@ai-sdk/devtools` in a folder that it is given, which keeps what was shown there.
import { runLoop } from '@lockstep/agent-loop'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { registerTelemetry, streamText, tool } from 'ai'
import { z } from 'zod'

process.chdir(process.argv[2]!)
const { DevToolsTelemetry } = await import('@ai-sdk/devtools')
registerTelemetry(DevToolsTelemetry())

const ask = tool({
  inputSchema: z.object({}),
  execute: () => streamText({ model: scriptedModel(['Sunny.'], { modelId: 'inner' }), prompt: 'Weather?' }).text,
})
const loop = runLoop({
  model: scriptedModel([{ toolCalls: [{ toolName: 'ask', input: {} }] }, 'no.', 'Yes.']),
  messageList: new MessageList().add('Hello', 'input'),
  tools: { ask },
  telemetry: { functionId: 'helper' },
  maxProcessorRetries: 1,
  outputProcessors: [
    {
      id: 'guard',
      processToolResult: () => ({ output: 'It is sunny.' }),
      processOutputStep: ({ text, abort }) => void (text === 'no.' && abort('be kind', { retry: true })),
    },
  ],
})
for await (const _ of loop);
const failing = runLoop({
  model: scriptedModel([{ error: new Error('down') }]),
  messageList: new MessageList().add('Hello', 'input'),
})
for await (const _ of failing);
