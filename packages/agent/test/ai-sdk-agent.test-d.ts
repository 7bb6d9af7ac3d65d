import { Agent } from '@lockstep/agent'
import { toAISDKAgent } from '@lockstep/agent/ai-sdk'
import { toUIMessageStream, type RunDataParts } from '@lockstep/agent/ui'
import {
  createAgentUIStreamResponse,
  DirectChatTransport,
  pipeAgentUIStreamToResponse,
  tool,
  type Agent as AISDKAgent,
  type InferAgentUIMessage,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import type { ServerResponse } from 'node:http'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const tools = { double: tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n * 2 }) }
const agent = new Agent({ name: 'doubler', model: 'openai/gpt-5', tools })
const sdk = toAISDKAgent(agent, { tools })

expectTypeOf(sdk).toExtend<AISDKAgent<never, typeof tools>>()
expectTypeOf(toAISDKAgent(agent)).toExtend<AISDKAgent<never, {}>>()
expectTypeOf((await sdk.generate({ prompt: 'Hi' })).text).toEqualTypeOf<string>()
expectTypeOf((await sdk.generate({ prompt: 'Hi' })).staticToolResults[0]!.output).toEqualTypeOf<number>()

type Message = InferAgentUIMessage<typeof sdk>
expectTypeOf<
  Extract<Message['parts'][number], { type: 'tool-double'; state: 'output-available' }>['output']
>().toEqualTypeOf<number>()

void createAgentUIStreamResponse({ agent: sdk, uiMessages: [] })
void pipeAgentUIStreamToResponse({ agent: sdk, uiMessages: [], response: {} as ServerResponse })
void new DirectChatTransport({ agent: sdk })

// @ts-expect-error the options of a call are never
void sdk.generate({ prompt: 'Hi', options: {} })

type Page = UIMessage<{ tokens: number }, RunDataParts>
const stream = toUIMessageStream<Page>(agent.stream('Hi').fullStream, {
  messageMetadata: chunk =>
    chunk.type === 'finish' ? { tokens: chunk.payload.totalUsage.totalTokens ?? 0 } : undefined,
})
expectTypeOf(stream).toExtend<ReadableStream<UIMessageChunk<unknown, RunDataParts>>>()
// @ts-expect-error the metadata of this page's messages is a number of tokens
void toUIMessageStream<Page>(agent.stream('Hi').fullStream, { messageMetadata: () => ({ words: 1 }) })
expectTypeOf<Extract<Page['parts'][number], { type: 'data-tripwire' }>['data']['processorId']>().toEqualTypeOf<string>()
