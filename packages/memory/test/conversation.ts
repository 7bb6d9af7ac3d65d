// An agent with a memory and a scripted model, and the store's side of it in short words.
import { Agent } from '@lockstep/agent'
import type { AgentConfig } from '@lockstep/agent'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { memory, type MemoryOptions, type ThreadStore } from '@lockstep/memory'
import { inMemoryStore } from '@lockstep/memory/in-memory'
import { isToolPart, type AgentMessage, type MessagePart } from '@lockstep/message-list'
import { tool, type ToolSet } from 'ai'
import { z } from 'zod'

/** The tools of these tests: one that runs here, one that the client runs, one that fails. */
const tools: ToolSet = {
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  }),
  locate: tool({ inputSchema: z.object({}) }),
}

export interface ConversationOptions extends Omit<Partial<AgentConfig>, 'memory' | 'model'> {
  readonly store?: ThreadStore
  readonly memory?: Omit<MemoryOptions, 'store'>
}

export interface Conversation {
  readonly agent: Agent
  readonly store: ThreadStore
  readonly model: ReturnType<typeof scriptedModel>
  /** The prompt of each model call, in short. */
  readonly prompts: () => readonly string[]
}

export function conversation(turns: readonly ScriptedTurn[], options: ConversationOptions = {}): Conversation {
  const { store = inMemoryStore(), memory: own, ...config } = options
  const model = scriptedModel(turns)
  const agent = new Agent({
    name: 'test',
    model,
    tools,
    memory: memory({ store, ...own }),
    ...config,
  }) as object as Agent
  const prompts = () =>
    model.doStreamCalls.map(({ prompt }) =>
      prompt
        .map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : content.map(wordOf).join(' ')}`)
        .join(' | '),
    )
  return { agent, store, model, prompts }
}

function wordOf(part: object): string {
  const { type, text, toolCallId, output } = part as { [key: string]: unknown }
  if (type === 'text') return String(text)
  if (type === 'tool-call') return `call(${String(toolCallId)})`
  return type === 'tool-result' ? `result(${String((output as { value: unknown }).value)})` : `[${String(type)}]`
}

/** What the store has of a thread, a line a message. */
export async function storedLines(store: ThreadStore, threadId = 't'): Promise<readonly string[]> {
  const { messages } = await store.read(threadId)
  return messages.map(lineOf)
}

export function lineOf({ role, content }: AgentMessage): string {
  const words = content.parts.filter(({ type }) => type !== 'step-start').map(partWord)
  return `${role}: ${words.join(' ')}`
}

function partWord(part: MessagePart): string {
  if (part.type === 'text') return part.text
  if (!isToolPart(part)) return `[${part.type}]`
  const { output, errorText } = part as { readonly output?: string; readonly errorText?: string }
  return `${part.toolCallId}:${part.state}${output === undefined ? '' : `=${output}`}${errorText === undefined ? '' : `=${errorText}`}`
}
