// Many tools, of which a step has only a few: those that are always there, and those that the model has searched for.
import { isToolPart, toolNameOf, type AgentMessage } from '@lockstep/message-list'
import type { Processor, StepResult } from '@lockstep/processors'
import { jsonSchema, tool, type ToolSet } from 'ai'
import { BuiltinError } from '../errors.ts'
import { descriptionOf, ToolIndex } from './tool-index.ts'
import { fitsSome } from './tool-name-pattern.ts'

/** A search, and what it found. */
export interface ToolSearchEvent {
  readonly query: string
  readonly tools: readonly string[]
}

/** Options of the search. */
export interface ToolSearchOptions {
  /** The tools that every step has, by name or pattern (`read_*`); none when absent. */
  readonly always?: readonly string[]
  /** How many tools a search finds at most; 5 when absent. */
  readonly limit?: number
  /** How many found tools a step has at most: then the ones that were found first go. 40 when absent. */
  readonly maxFound?: number
  /** The name of the tool that searches; `'search_tools'` when absent. */
  readonly name?: string
  readonly onSearch?: (event: ToolSearchEvent) => void
}

/** What the search keeps of a run. */
export interface ToolSearchState {
  /** What was found in the conversation before the run. */
  foundBefore: string[]
}

/** The tools that a step shows anyway, and those that have to be found. A run gives the same set of tools in each step. */
interface Division {
  readonly activeTools: readonly string[] | undefined
  readonly chosen: string | undefined
  readonly shown: readonly string[]
  readonly hidden: ReadonlySet<string>
}

const description =
  'Finds tools by what they do. Only some of the tools are shown; search before you say that you cannot do something. What is found can be called from the next step on.'

/**
 * A processor that shows the model few of many tools, with one to search for others. What is found stays, for the run and
 * for later runs of the conversation, in the order in which it was found.
 *
 * *Order*: in `inputProcessors`, after what adds tools.
 * *Throws*: `invalid-limit`; in a run `tool-exists`.
 */
export function toolSearch(options: ToolSearchOptions = {}): Processor<'tool-search', unknown, ToolSearchState> {
  const { always = [], limit = 5, maxFound = 40, name = 'search_tools', onSearch } = options
  for (const count of [limit, maxFound])
    if (!(count >= 1))
      throw new BuiltinError('invalid-limit', `A search for ${String(count)} tools is none. Give 1 or more.`)
  /** The index of the last set of tools. It depends on nothing else, so runs can share it. */
  let latest: Promise<ToolIndex> | undefined
  const indexOf = async (tools: ToolSet): Promise<ToolIndex> => {
    const known = await latest?.catch(() => undefined)
    if (known?.isOf(tools)) return known
    const made = ToolIndex.of(tools)
    latest = made
    return made
  }
  const divisions = new WeakMap<ToolSet, Division>()
  const divisionOf = (
    tools: ToolSet,
    chosen: string | undefined,
    activeTools: readonly string[] | undefined,
  ): Division => {
    const known = divisions.get(tools)
    if (known && known.activeTools === activeTools && known.chosen === chosen) return known
    const [shown, hidden] = divided(
      activeTools ?? Object.keys(tools),
      toolName => toolName === chosen || fitsSome(toolName, always),
    )
    const division = { activeTools, chosen, shown, hidden: new Set(hidden) }
    divisions.set(tools, division)
    return division
  }
  const searchTool = (tools: ToolSet, hidden: ReadonlySet<string>) =>
    tool({
      description,
      inputSchema: querySchema,
      execute: async ({ query }) => {
        const found = (await indexOf(tools)).find(query, { limit, among: hidden })
        onSearch?.({ query, tools: found })
        return found.length === 0
          ? { tools: [], hint: 'No tool fits. Try other words, or go on without.' }
          : { tools: found.map(toolName => ({ name: toolName, description: descriptionOf(tools[toolName]!) })) }
      },
    })

  return {
    id: 'tool-search',
    name: 'Tool search',
    description: 'Shows the model few of many tools, and one to search for the others.',

    processInputStep({ tools, activeTools, toolChoice, messages, steps, state }) {
      const chosen = typeof toolChoice === 'object' ? toolChoice.toolName : undefined
      const { shown, hidden } = divisionOf(tools, chosen, activeTools)
      if (hidden.size === 0) return
      if (Object.hasOwn(tools, name))
        throw new BuiltinError('tool-exists', `There is a tool '${name}' already. Give the tool search another name.`)
      state.foundBefore ??= [...stickyNames(namesInMessages(messages, name), maxFound)]
      const names = stickyNames([...state.foundBefore, ...namesInSteps(steps, name)], maxFound)
      const found = names.filter(toolName => hidden.has(toolName))
      const entries = [...shown, ...found].map(toolName => [toolName, tools[toolName]!] as const)
      entries.splice(shown.length, 0, [name, searchTool(tools, hidden)])
      return { tools: Object.fromEntries(entries), activeTools: entries.map(([toolName]) => toolName) }
    },
  }
}

const querySchema = jsonSchema<{ readonly query: string }>(
  {
    type: 'object',
    properties: { query: { type: 'string', description: 'What the tool should do, in a few words.' } },
    required: ['query'],
    additionalProperties: false,
  },
  {
    validate: value =>
      typeof (value as { readonly query?: unknown } | null)?.query === 'string'
        ? { success: true, value: value as { readonly query: string } }
        : { success: false, error: new Error('Give { query: string }.') },
  },
)

function divided(names: readonly string[], isFirst: (name: string) => boolean): readonly [string[], string[]] {
  const parts: [string[], string[]] = [[], []]
  for (const name of names) parts[isFirst(name) ? 0 : 1].push(name)
  return parts
}

/** Names in the order in which they came first; when there are too many, the first ones go. */
function stickyNames(names: Iterable<string>, maxCount: number): readonly string[] {
  const kept = new Set<string>()
  for (const name of names) {
    kept.add(name)
    if (kept.size > maxCount) kept.delete(kept.values().next().value!)
  }
  return [...kept]
}

function* namesInMessages(messages: readonly AgentMessage[], searchName: string): Iterable<string> {
  for (const { content } of messages)
    for (const part of content.parts)
      if (isToolPart(part) && toolNameOf(part) === searchName && part.state === 'output-available')
        yield* namesIn(part.output)
}

function* namesInSteps(steps: readonly StepResult[], searchName: string): Iterable<string> {
  for (const { toolResults } of steps)
    for (const { toolName, output } of toolResults) if (toolName === searchName) yield* namesIn(output)
}

/** The names in the output of a search, as it stands in the conversation: somebody may have changed it. */
function* namesIn(output: unknown): Iterable<string> {
  const { tools } = (output ?? {}) as { readonly tools?: unknown }
  if (!Array.isArray(tools)) return
  for (const found of tools as readonly unknown[]) {
    const { name } = (found ?? {}) as { readonly name?: unknown }
    if (typeof name === 'string') yield name
  }
}
