// Every promise about an agent holds for `generate` and for `stream`: tests run over both.
import { Agent, type AgentMessage, type Chunk, type LoopResult, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import type { MockLanguageModelV4 } from 'ai/test'
import { tool } from 'ai'
import { z } from 'zod'

export type Config = ConstructorParameters<typeof Agent>[0]
export type Options = NonNullable<Parameters<Agent['generate']>[1]>
type Input = Parameters<Agent['generate']>[0]

export interface Path {
  readonly path: 'generate' | 'stream'
  /** Runs to the end; gives the result and every chunk. */
  readonly run: (
    agent: Agent,
    input?: Input,
    options?: Options,
  ) => Promise<{ readonly result: LoopResult; readonly chunks: readonly Chunk[] }>
}

/** `generate`, and a reader that drains `stream`. */
export const bothPaths: readonly Path[] = [
  {
    path: 'generate',
    async run(agent, input = 'Hello', options = {}) {
      const chunks: Chunk[] = []
      const result = await agent.generate(input, { ...options, onChunk: chunk => void chunks.push(chunk) })
      return { result, chunks }
    },
  },
  {
    path: 'stream',
    async run(agent, input = 'Hello', options = {}) {
      const stream = agent.stream(input, options)
      const chunks: Chunk[] = []
      for await (const chunk of stream.fullStream) chunks.push(chunk)
      // Rejects as generate does.
      await stream.text
      return { result: await stream.result, chunks }
    },
  },
]

export type Turns = Parameters<typeof scriptedModel>[0]

/** An agent whose model follows a script, with a tool `look`. */
export function agentOf(turns: Turns, config: Partial<Config> = {}): { agent: Agent; model: MockLanguageModelV4 } {
  const model = scriptedModel(turns)
  return { model, agent: new Agent({ name: 'test', model, tools: { look, touch: look }, ...config }) }
}

const look = tool({ inputSchema: z.object({ at: z.string().optional() }), execute: ({ at }) => `saw ${at ?? 'it'}` })

/** A turn in which the model calls the tool `look`. */
export const callLook = { toolCalls: [{ toolName: 'look', input: {} }] }

/** A processor with one hook. */
export function hooked<T extends Partial<Omit<Processor, 'id'>>>(id: string, hooks: T): Processor & T {
  return { id, ...hooks }
}

function textOf(message: AgentMessage | undefined): string {
  return (message?.content.parts ?? []).map(part => (part.type === 'text' ? part.text : '')).join('')
}

export function textsOf(messages: readonly AgentMessage[]): readonly string[] {
  return messages.map(textOf)
}

/** What a prompt says, message by message. */
export function promptOf(model: MockLanguageModelV4, call: number): readonly string[] {
  return model.doStreamCalls[call]!.prompt.map(({ role, content }) => {
    const words =
      typeof content === 'string' ? content : content.map(part => ('text' in part ? part.text : part.type)).join('+')
    return `${role}: ${words}`
  })
}

/** The tools that the model was told about in a call. */
export function toolsOf(model: MockLanguageModelV4, call: number): readonly string[] {
  return (model.doStreamCalls[call]!.tools ?? []).map(({ name }) => name)
}
