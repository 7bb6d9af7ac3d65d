// The rules of the retrieval model: which tools to call next, or the answer. They see the prompt and the offered tools, nothing else.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { termSetOf } from '../docs/words.ts'
import { answerFrom } from './answer.ts'
import { readTurn, type Turn } from './prompt-turn.ts'
import { inOtherWords, topicOf, type TopicWord } from './topic.ts'

export type Decision =
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'calls'; readonly calls: readonly ToolInput[] }

type ToolInput = { readonly toolName: string; readonly input: Readonly<Record<string, string>> }
type Offered = readonly LanguageModelV4FunctionTool[]

const sectionsToRead = 3

/**
 * Decides the next move. *Order:* search in two ways at once; read the best sections at once; answer. When the search finds
 * nothing, the documents are listed before the answer says so.
 */
export function decide(options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'>): Decision {
  const turn = readTurn(options.prompt)
  const topic = topicOf(turn)
  const choice = options.toolChoice ?? { type: 'auto' }
  const offered = choice.type === 'none' ? [] : (options.tools ?? []).filter(tool => tool.type === 'function')
  if (choice.type === 'tool') {
    const tool = offered.filter(({ name }) => name === choice.toolName)
    return { type: 'calls', calls: tool.map(({ name }) => ({ toolName: name, input: inputFor(tool, turn, topic) })) }
  }
  const calls = topic.length === 0 ? [] : nextCalls(offered, turn, topic)
  if (calls.length > 0) return { type: 'calls', calls }
  const [any] = offered
  if (choice.type === 'required' && any !== undefined) {
    return { type: 'calls', calls: [{ toolName: any.name, input: inputFor([any], turn, topic) }] }
  }
  return { type: 'answer', text: answerFrom(turn, topic) }
}

function nextCalls(offered: Offered, turn: Turn, topic: readonly TopicWord[]): readonly ToolInput[] {
  const search = taking(offered, 'query')
  const read = taking(offered, 'reference')
  const list = taking(offered, 'prefix')
  const wasCalled = (tool: LanguageModelV4FunctionTool): boolean => turn.called.includes(tool.name)
  if (search !== undefined && !wasCalled(search)) {
    const again = inOtherWords(topic)
    const queries = [wordsOfTopic(topic), ...(again === undefined ? [] : [again])].map(query => call(search, { query }))
    return again === undefined && list !== undefined ? [...queries, call(list, {})] : queries
  }
  const best = bestHits(turn, topic)
  if (read !== undefined && !wasCalled(read) && best.length > 0) return best.map(reference => call(read, { reference }))
  if (list !== undefined && !wasCalled(list) && best.length === 0) return [call(list, {})]
  return []
}

/** A tool is known by what it takes: a `query` searches, a `reference` reads, a `prefix` lists. */
function taking(offered: Offered, property: string): LanguageModelV4FunctionTool | undefined {
  return offered.find(({ inputSchema }) => property in (inputSchema.properties ?? {}))
}

function call({ name }: LanguageModelV4FunctionTool, input: ToolInput['input']): ToolInput {
  return { toolName: name, input }
}

function inputFor(tool: Offered, turn: Turn, topic: readonly TopicWord[]): ToolInput['input'] {
  if (taking(tool, 'query') !== undefined) return { query: wordsOfTopic(topic) || turn.question || 'documents' }
  if (taking(tool, 'reference') !== undefined) return { reference: bestHits(turn, topic)[0] ?? wordsOfTopic(topic) }
  return {}
}

function wordsOfTopic(topic: readonly TopicWord[]): string {
  return topic.map(({ word }) => word).join(' ')
}

/** Joins the searches by rank; the first search counts most. A near miss, which says no word of the topic, and bare code are left out. */
function bestHits({ searches }: Turn, topic: readonly TopicWord[]): readonly string[] {
  const scores = new Map<string, number>()
  for (const [search, hits] of searches.entries()) {
    const fitting = hits.filter(
      ({ reference, heading, snippet }) =>
        !snippet.startsWith('```') && saysSome(topic, `${reference} ${heading} ${snippet}`),
    )
    for (const [rank, { reference }] of fitting.entries()) {
      scores.set(reference, (scores.get(reference) ?? 0) + 1 / ((search + 1) * (rank + 2)))
    }
  }
  const best = [...scores].sort(([, a], [, b]) => b - a)
  return best.slice(0, sectionsToRead).map(([reference]) => reference)
}

function saysSome(topic: readonly TopicWord[], text: string): boolean {
  const said = termSetOf(text)
  return topic.some(({ terms }) => terms.some(term => said.has(term)))
}
