// any-content: providers, tools and users send what nobody thought of, and no hook breaks on it.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { finishPart } from '@lockstep/agent-loop/testing'
import type { MessageInput } from '@lockstep/message-list'
import { ProcessorError } from '@lockstep/processors'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { errorText } from '../run-outcome.ts'
import { scenariosOf, type Scenario } from '../scenario.ts'

const odd = (parts: readonly unknown[]): { readonly parts: readonly LanguageModelV4StreamPart[] } => ({
  parts: [...(parts as readonly LanguageModelV4StreamPart[]), finishPart('stop')],
})

const input: MessageInput = {
  role: 'user',
  content: [
    { type: 'text', text: '' },
    { type: 'file', data: 'aGVsbG8=', mediaType: 'text/plain', filename: 'a.txt' },
    { type: 'text', text: '\u0000 {{ }} <|end|> \u202e %s $& \\' },
  ],
}

const values = [undefined, null, '', 0, false, [], {}, [[[null]]], { a: { b: { c: 'deep' } } }, 'x'.repeat(5_000)]

const hostile: readonly Scenario[] = [
  { name: 'an answer without a part', turns: [odd([])] },
  { name: 'an empty answer', turns: [{ text: '' }] },
  { name: 'a lone half of a surrogate pair', turns: [{ text: ['\ud83d', ' and ', '\ude00'] }] },
  { name: 'a long answer', turns: [{ text: 'word '.repeat(2_000) }] },
  {
    name: 'parts of unknown types, sources, files and raw values',
    turns: [
      odd([
        { type: 'brand-new-part', anything: { deep: [1] } },
        { type: 'raw', rawValue: null },
        { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.com/' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGVsbG8=' } },
        { type: 'reasoning-start', id: 'r1' },
        { type: 'reasoning-end', id: 'r1' },
        { type: 'text-start', id: 't1' },
        { type: 'text-start', id: 't2' },
        { type: 'text-delta', id: 't2', delta: 'two' },
        { type: 'text-delta', id: 't1', delta: 'one' },
      ]),
    ],
  },
  {
    name: 'calls of an unknown tool and with input that is no JSON',
    turns: [
      {
        toolCalls: [
          { toolName: 'nobody', input: {} },
          { toolName: 'lookup', input: '{"half' },
          { toolName: 'lookup', input: '' },
          { toolName: 'fails', input: {} },
        ],
      },
      'So be it.',
    ],
  },
  ...values.map(value => ({
    name: `a tool that is called with and gives ${JSON.stringify(value)?.slice(0, 30) ?? 'undefined'}`,
    turns: [{ toolCalls: [{ toolName: 'lookup', input: value ?? null }] }, 'So be it.'],
    toolResults: [value],
  })),
].map(given => ({ toolResults: [], ...given, input }))

/** Nothing that can come makes a hook throw. */
export const anyContent: ProcessorLaw = {
  name: 'any-content',
  meaning: 'takes whatever a provider, a tool or a user may send without an error',
  appliesTo: () => true,
  async check(factory, options = {}) {
    for (const scenario of [...hostile, ...scenariosOf(options)]) {
      const processor = factory()
      const { result } = await runScenario(processor, scenario)
      const thrown =
        ProcessorError.isInstance(result.error) && result.error.processorId === processor.id
          ? result.error
          : result.trace.events.flatMap(({ effect, processorId }) =>
              effect.type === 'skipped' && processorId === processor.id ? [effect.error] : [],
            )[0]
      if (thrown !== undefined)
        throw broken('any-content', {
          where: scenario.name,
          fact: `the processor threw: ${errorText(thrown)}`,
          cure: 'Look at the type of each part and chunk before reading it, pass on what you do not know, and refuse with `abort`, not with an error.',
        })
    }
  },
}
