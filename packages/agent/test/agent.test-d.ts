// What is inferred from what the user wrote. Checked by `tsc`, never run.
import {
  Agent,
  type AgentConfig,
  type LoopResult,
  type Processor,
  type StepResult,
  type ToolRunOptions,
} from '@lockstep/agent'
import type { InferUIMessage } from '@lockstep/agent/ui'
import {
  RequestContext,
  type InputProcessor,
  type OutputProcessor,
  type ProcessOutputStepArgs,
} from '@lockstep/processors'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { tool } from 'ai'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const model = scriptedModel([])
const search = tool({ inputSchema: z.object({ query: z.string() }), execute: ({ query }) => ({ hits: [query] }) })
const agent = new Agent({ name: 'typed', model, tools: { search } })

// Tool names are known wherever a tool is named.
void agent.generate('Hi', { activeTools: ['search'], toolChoice: { type: 'tool', toolName: 'search' } })
// @ts-expect-error there is no such tool
void agent.generate('Hi', { activeTools: ['serch'] })
// @ts-expect-error there is no such tool
void agent.generate('Hi', { toolChoice: { type: 'tool', toolName: 'serch' } })
void agent.generate('Hi', {
  prepareStep: ({ stepNumber }) => (stepNumber > 2 ? { activeTools: ['search'] } : undefined),
})
// @ts-expect-error a step has no such setting
void agent.generate('Hi', { prepareStep: () => ({ toolchoice: 'none' as const }) })

// Calls and results have the types of the tools.
const result = await agent.generate('Hi')
for (const call of result.toolCalls) if (!call.dynamic) expectTypeOf(call.input).toEqualTypeOf<{ query: string }>()
for (const done of result.toolResults) if (!done.dynamic) expectTypeOf(done.output).toEqualTypeOf<{ hits: string[] }>()
expectTypeOf(agent.stream('Hi').text).toEqualTypeOf<Promise<string>>()
expectTypeOf(agent.stream('Hi').steps).toEqualTypeOf<Promise<LoopResult<{ search: typeof search }>['steps']>>()

// A tool says what it needs of the run.
tool({
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }, options) => {
    const { requestContext, runId, writer, abortSignal } = options as ToolRunOptions<{ tier: 'free' | 'pro' }>
    expectTypeOf(requestContext.get('tier')).toEqualTypeOf<'free' | 'pro' | undefined>()
    expectTypeOf(runId).toEqualTypeOf<string>()
    expectTypeOf(abortSignal).toEqualTypeOf<AbortSignal | undefined>()
    await writer.custom({ type: 'data-progress', data: query })
  },
})

// State and tripwire metadata are typed from the processor.
const counter: Processor<'counter', { words: number }, { count: number }> = {
  id: 'counter',
  processOutputStep({ state, abort, text }) {
    expectTypeOf(state.count).toEqualTypeOf<number | undefined>()
    // @ts-expect-error the metadata of this processor has words
    if (text === '') abort('empty', { metadata: { letters: 1 } })
    abort('long', { retry: true, metadata: { words: 1 } })
  },
}
expectTypeOf(counter.id).toEqualTypeOf<'counter'>()
expectTypeOf<ProcessOutputStepArgs['usage']['totalTokens']>().toEqualTypeOf<number | undefined>()

// The three kinds of processors are processors, and must have a hook of their kind.
const input: InputProcessor = { id: 'in', processInput: () => {} }
const output: OutputProcessor = { id: 'out', processOutputStep: () => [] }
// @ts-expect-error an input processor has an input hook
const wrong: InputProcessor = { id: 'wrong', processOutputStep: () => [] }
// @ts-expect-error an output processor has an output hook
const wrongOutput: OutputProcessor = { id: 'wrong', processInput: () => {} }
void wrongOutput
const config: AgentConfig = {
  name: 'x',
  model,
  inputProcessors: [input, wrong],
  outputProcessors: [output, counter, 'secret-redactor'],
}
// @ts-expect-error there is no such builtin
const unknown: AgentConfig = { name: 'x', model, outputProcessors: ['secret-redacter'] }
const optioned: AgentConfig = {
  name: 'x',
  model,
  outputProcessors: [['secret-redactor', { replacement: kind => kind }]],
}
// @ts-expect-error the builtin has no such option
const misoptioned: AgentConfig = { name: 'x', model, outputProcessors: [['secret-redactor', { replace: 1 }]] }
void [config, unknown, optioned, misoptioned]

// The request context keeps its types.
const context = new RequestContext<{ tier: 'free' | 'pro' }>({ tier: 'pro' })
expectTypeOf(context.get('tier')).toEqualTypeOf<'free' | 'pro' | undefined>()
void agent.generate('Hi', { requestContext: context })

// Results and steps of known tools can be given where any will do.
const anyResult: LoopResult = result
const anyStep: StepResult = result.steps[0]!
const anyAgent: Pick<Agent, 'name' | 'id' | 'description'> = agent
void [anyResult, anyStep, anyAgent]

// The object is of the schema that the call, or else the agent, asked for.
const book = z.object({ title: z.string(), pages: z.number().default(1) })
type Book = { title: string; pages: number }
const asked = await agent.generate('Hi', { structuredOutput: { schema: book } })
expectTypeOf(asked.object).toEqualTypeOf<Book | undefined>()
const askedInOne = await agent.generate({ prompt: 'Hi', structuredOutput: { schema: book } })
expectTypeOf(askedInOne.object).toEqualTypeOf<Book | undefined>()
expectTypeOf((await agent.generate('Hi')).object).toEqualTypeOf<undefined>()
expectTypeOf(agent.stream('Hi', { structuredOutput: { schema: book } }).object).toEqualTypeOf<
  Promise<Book | undefined>
>()
for await (const part of agent.stream('Hi', { structuredOutput: { schema: book } }).objectStream)
  expectTypeOf(part.title).toEqualTypeOf<string | undefined>()
const librarian = new Agent({ name: 'librarian', model, defaultOptions: { structuredOutput: { schema: book } } })
expectTypeOf((await librarian.generate('Hi')).object).toEqualTypeOf<Book | undefined>()
const other = await librarian.generate('Hi', { structuredOutput: { schema: z.object({ n: z.number() }) } })
expectTypeOf(other.object).toEqualTypeOf<{ n: number } | undefined>()
void agent.generate('Hi', {
  structuredOutput: { schema: book, errorStrategy: 'fallback', fallbackValue: { title: '', pages: 0 } },
})
void agent.generate('Hi', {
  // @ts-expect-error a fallback has a value
  structuredOutput: { schema: book, errorStrategy: 'fallback' },
})
void agent.generate('Hi', {
  structuredOutput: { schema: book },
  onFinish: ({ object }) => {
    expectTypeOf(object).toEqualTypeOf<Book | undefined>()
  },
})
// What a step gives may be of another schema: a processor can ask for one.
expectTypeOf(asked.steps[0]!.object).toEqualTypeOf<unknown>()
const judge: Processor = {
  id: 'judge',
  async processOutputStep({ callModel, text }) {
    const { object } = await callModel({ prompt: text, structuredOutput: { schema: book } })
    expectTypeOf(object).toEqualTypeOf<Book | undefined>()
    expectTypeOf((await callModel({ prompt: text })).object).toEqualTypeOf<undefined>()
  },
}
void judge

// The messages of a page: the agent's tools, what a run leaves, and the application's own data.
type PageMessage = InferUIMessage<typeof agent, { retry: { reason: string } }>
for (const part of ({} as PageMessage).parts) {
  if (part.type === 'tool-search' && part.state === 'output-available')
    expectTypeOf(part.output).toEqualTypeOf<{ hits: string[] }>()
  if (part.type === 'data-retry') expectTypeOf(part.data).toEqualTypeOf<{ reason: string }>()
  if (part.type === 'data-tripwire') expectTypeOf(part.data.reason).toEqualTypeOf<string>()
}
// @ts-expect-error there is no such tool
const misspelt: PageMessage['parts'][number]['type'] = 'tool-serch'
void misspelt
