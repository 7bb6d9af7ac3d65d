// The runs that laws are checked on, made of samples: what the user says, what the model does, what the tools give.
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { MessageInput } from '@lockstep/message-list'
import { APICallError, jsonSchema, type ToolSet } from 'ai'
import { hardTexts, plainTexts, textSample, type ContractSamples } from './contract-samples.ts'

/** One run to check laws on. */
export interface Scenario {
  readonly name: string
  readonly input: MessageInput
  readonly turns: readonly ScriptedTurn[]
  readonly toolResults: readonly unknown[]
  readonly history?: readonly MessageInput[]
  /** What has to be on the screen, when the author of the processor says so. */
  readonly shown?: string
}

/** All runs that the samples make: answers, calls of tools, a long conversation, failures, the author's scripts. */
export function scenariosOf(samples: ContractSamples): readonly Scenario[] {
  return [...answers(samples), ...toolRuns(samples), inLongConversation(samples), ...failures, ...scripted(samples)]
}

function answers({ inputs = [], texts = [] }: ContractSamples): readonly Scenario[] {
  const said = [...texts, ...plainTexts, ...hardTexts]
  return Array.from({ length: Math.max(said.length, inputs.length) }, (_, index) => {
    const { text, shown } = textSample(said[index % said.length]!)
    return {
      name: `the answer ${quoted(text)}`,
      input: inputs[index % (inputs.length || 1)] ?? `Hello, for the ${index + 1}. time.`,
      turns: [{ text }],
      toolResults: [],
      ...(shown === undefined ? {} : { shown }),
    }
  })
}

function toolRuns({
  inputs = [],
  texts = [],
  toolInputs = [],
  toolResults = [],
}: ContractSamples): readonly Scenario[] {
  const given = [...toolInputs, { query: 'trains', page: 1 }]
  const results = [...toolResults, { found: ['noon', 'evening'], total: 2 }]
  const said = [...texts.map(sample => textSample(sample).text), ...plainTexts]
  return Array.from({ length: Math.max(given.length, results.length) }, (_, index) => {
    const toolInput = given[index % given.length]
    return {
      name: `two steps of tools and ${quoted(said[index % said.length]!)}`,
      input: inputs[index % (inputs.length || 1)] ?? `What about train ${index + 1}?`,
      turns: [
        { reasoning: 'I should look.', text: 'Let me look.', toolCalls: [{ toolName: 'lookup', input: toolInput }] },
        {
          toolCalls: [
            { toolName: 'lookup', input: toolInput },
            { toolName: 'act', input: { text: said[(index + 1) % said.length] } },
            { toolName: 'fails', input: {} },
          ],
        },
        { reasoning: 'Now I know.', text: said[index % said.length]! },
      ],
      toolResults: [results[index % results.length], 'done'],
    }
  })
}

/** The first of the tool runs, after much that was said before, calls of tools included. */
function inLongConversation(samples: ContractSamples): Scenario {
  const run = toolRuns(samples)[0]!
  const history = Array.from({ length: 8 }, (_, index): readonly MessageInput[] => [
    { role: 'user', content: `Question ${index}: when does train ${index} leave?` },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `past-${index}`, toolName: 'lookup', input: { train: index } }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: `past-${index}`,
          toolName: 'lookup',
          output: { type: 'json', value: { leaves: `${index}:00`, stops: Array.from({ length: 20 }, () => 'a stop') } },
        },
      ],
    },
    { role: 'assistant', content: `Train ${index} leaves at ${index}:00.` },
  ]).flat()
  return { ...run, name: `${run.name}, in a long conversation`, history }
}

const overloaded = new APICallError({
  message: 'The model is overloaded.',
  url: 'https://model.example',
  requestBodyValues: {},
  statusCode: 503,
  isRetryable: true,
})

const failures: readonly Scenario[] = [
  { turns: [{ error: overloaded }, { text: plainTexts[1]! }], name: 'a model that fails once' },
  {
    turns: [
      {
        parts: [
          { type: 'text-start', id: 't1' },
          { type: 'text-delta', id: 't1', delta: plainTexts[1]! },
          { type: 'error', error: overloaded },
        ],
      },
      { text: plainTexts[2]! },
    ],
    name: 'a model that fails in the middle of its answer',
  },
].map((given, index) => ({ ...given, input: `Are you there? ${index + 1}`, toolResults: [] }))

function scripted({ scripts = [], inputs = [], toolResults = [] }: ContractSamples): readonly Scenario[] {
  return scripts.map((turns, index) => ({
    name: `the script ${index}`,
    input: inputs[index % (inputs.length || 1)] ?? `Go on with ${index + 1}.`,
    turns,
    toolResults: toolResults.length > 0 ? toolResults : ['done'],
  }))
}

/** The tools of a run: two that give the results in turn, and one that fails. */
export function toolsOf({ toolResults }: Pick<Scenario, 'toolResults'>): ToolSet {
  let count = 0
  const inputSchema = jsonSchema({})
  const next = () => (toolResults.length === 0 ? 'done' : toolResults[count++ % toolResults.length])
  const fail = () => {
    throw new Error('The tool failed.')
  }
  const tools = { lookup: next, act: next, fails: fail }
  return Object.fromEntries(
    Object.entries(tools).map(([name, execute]) => [name, { inputSchema, execute }]),
  ) as unknown as ToolSet
}

/** A text in a message to people. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text)
}
