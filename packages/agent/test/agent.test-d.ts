// What is inferred from what the user wrote. Checked by `tsc`, never run.
import { Agent, type AgentConfig, type LoopResult, type Processor } from '@lockstep/agent'
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

// An agent with tools can be given where any agent will do.
const ask = (any: Pick<Agent, 'name' | 'id'>) => any.name
ask(agent)
