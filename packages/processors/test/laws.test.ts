// What holds for every conversation, every chunk and every chain.
import { applyOverlay, type AgentMessage } from '@lockstep/message-list'
import { type Chunk, type Processor } from '@lockstep/processors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  atStart,
  chunkOf,
  hooked,
  inputStep,
  modelNamed,
  said,
  saying,
  settingsOf,
  stepResult,
  testRun,
  text,
  textsOf,
} from './run-host.ts'

const words = fc.string({ maxLength: 6 })
const conversation = fc.array(
  words.map(content => `m ${content}`),
  { minLength: 1, maxLength: 8 },
)
const chunk: fc.Arbitrary<Chunk> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(words, fc.constantFrom('0', '1')).map(([value, id]) => text(value, id)) },
  fc.constantFrom(chunkOf('text-start'), chunkOf('text-end')),
  fc.constant<Chunk>({ type: 'data-note', data: 1 }),
  fc.constant<Chunk>({ type: 'raw', runId: 'run-1', from: 'AGENT', payload: { rawValue: 1 } }),
)

describe('a pipeline without processors', () => {
  it('is the identity of everything that goes through it', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.array(chunk), async (input, chunks) => {
        const { runner, list } = testRun({ input })
        const before = list.snapshot()
        const settings = settingsOf()
        const prompt = list.get.all.prompt()
        const toolCall = { toolCallId: 'c', toolName: 't', input }
        const outcome = { output: input }
        await runner.runProcessInput(atStart)
        expect((await runner.runProcessInputStep({ position: atStart, settings, feedback: undefined })).settings).toBe(
          settings,
        )
        expect(
          (await runner.runProcessLLMRequest({ position: atStart, prompt, settings: { model: modelNamed('m') } }))
            .prompt,
        ).toBe(prompt)
        const chain = runner.streamChain(atStart)
        for (const one of chunks) expect(chain.pass(one)).toBe(one)
        expect(await chain.flush('finish')).toEqual([])
        await runner.runProcessOutputStep(() => ({ position: atStart, own: {} as never }))
        expect(await runner.runProcessToolCall({ position: atStart, toolCall })).toEqual({ type: 'run', input })
        expect(await runner.runProcessToolResult({ position: atStart, toolCall, outcome })).toBe(outcome)
        await runner.runProcessStepEnd({ position: atStart, step: stepResult() })
        await runner.runProcessOutputResult(() => ({ position: atStart, own: {} as never }))
        expect(await runner.runProcessAPIError({ position: atStart, error: 1, shownChunkCount: 0 })).toBeUndefined()
        await runner.runProcessRunEnd({ position: atStart, end: { stopReason: 'completed', result: {} as never } })
        expect(list.snapshot()).toBe(before)
        expect([runner.ledger.events, runner.ledger.totals]).toEqual([[], []])
      }),
      { numRuns: 60 },
    )
  })
})

/** What a processor may make of an array of messages, with what the array then says. */
const edit = fc.record({
  drop: fc.array(fc.nat(7), { maxLength: 3 }),
  rewrite: fc.array(fc.nat(7), { maxLength: 3 }),
  add: fc.array(
    fc.tuple(
      fc.nat(8),
      words.map(content => `new ${content}`),
    ),
    { maxLength: 3 },
  ),
  reverse: fc.boolean(),
})
type Edits = typeof edit extends fc.Arbitrary<infer T> ? T : never

function edited(messages: readonly AgentMessage[], { drop, rewrite, add, reverse }: Edits): (AgentMessage | string)[] {
  let result: (AgentMessage | string)[] = messages
    .map((message, index) => (rewrite.includes(index) ? saying(message, `re ${textsOf([message])[0]}`) : message))
    .filter((_, index) => !drop.includes(index))
  if (reverse) result = result.toReversed()
  for (const [index, content] of add) result.splice(Math.min(index, result.length), 0, content)
  return result.length === 0 ? [...messages] : result
}

const saysOf = (array: readonly (AgentMessage | string)[]) =>
  array.map(message => (typeof message === 'string' ? message : textsOf([message])[0]))

describe('a returned array', () => {
  it('is what the conversation then says, and what it did not touch is the same object', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, edit, async (input, edits) => {
        let returned: (AgentMessage | string)[] = []
        const run = testRun({
          input,
          inputProcessors: [hooked('p', { processInputStep: ({ messages }) => (returned = edited(messages, edits)) })],
        })
        const before = new Map(run.list.getMessages().map(message => [message.id, message]))
        const { overlay } = await inputStep(run)
        expect(overlay).toBeUndefined()
        expect(textsOf(run.list.getMessages())).toEqual(saysOf(returned))
        for (const message of returned)
          if (typeof message !== 'string' && before.get(message.id) === message)
            expect(run.list.find(message.id)).toBe(message)
      }),
      { numRuns: 200 },
    )
  })

  it('with the scope of the step is what the prompt then says, and leaves the list alone', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, edit, async (input, edits) => {
        let returned: (AgentMessage | string)[] = []
        const run = testRun({
          input,
          inputProcessors: [
            hooked('p', {
              processInputStep: ({ messages }) => ({ messages: (returned = edited(messages, edits)), scope: 'step' }),
            }),
          ],
        })
        const before = run.list.snapshot()
        const { overlay } = await inputStep(run)
        const messages = run.list.getMessages()
        expect(textsOf(overlay ? applyOverlay(messages, overlay) : messages)).toEqual(saysOf(returned))
        expect(run.list.snapshot()).toBe(before)
      }),
      { numRuns: 200 },
    )
  })

  it('is what the next processor is given, whatever scopes came before it', async () => {
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.array(fc.tuple(edit, fc.constantFrom('run' as const, 'step' as const)), { minLength: 1, maxLength: 5 }),
        async (input, chain) => {
          let expected: readonly unknown[] | undefined
          const inputProcessors = chain.map(([edits, scope], index) =>
            hooked(`p${index}`, {
              processInputStep: ({ messages }: { messages: readonly AgentMessage[] }) => {
                if (expected) expect(textsOf(messages)).toEqual(expected)
                const returned = edited(messages, edits)
                expected = saysOf(returned)
                return { messages: returned, scope }
              },
            }),
          )
          const run = testRun({ input, inputProcessors })
          const { overlay } = await inputStep(run)
          const messages = run.list.getMessages()
          expect(textsOf(overlay ? applyOverlay(messages, overlay) : messages)).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })
})

const mayBeLate = (late: boolean, id: string): Processor => ({
  id,
  processDataParts: true,
  processOutputStream: late ? async ({ part }) => (await Promise.resolve(), part) : ({ part }) => part,
})

describe('a chain that passes everything on', () => {
  it('passes the same objects, in order, late or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 12 }),
        fc.array(fc.boolean(), { maxLength: 4 }),
        async (chunks, lates) => {
          const run = testRun({ outputProcessors: lates.map((late, index) => mayBeLate(late, `p${index}`)) })
          const chain = run.runner.streamChain(atStart)
          for (const one of chunks) expect(await chain.pass(one)).toBe(one)
          chain.close()
          expect(run.runner.ledger.events).toEqual([])
        },
      ),
      { numRuns: 100 },
    )
  })

  it('gives what each processor makes of what the one before gave', async () => {
    const maps = {
      upper: (value: string) => [value.toUpperCase()],
      twice: (value: string) => [value, value],
      drop: (value: string) => (value.includes('a') ? [] : [value]),
      mark: (value: string) => [`${value}!`],
    }
    const names = fc.constantFrom(...(Object.keys(maps) as (keyof typeof maps)[]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(words),
        fc.array(fc.tuple(names, fc.boolean()), { maxLength: 4 }),
        async (values, links) => {
          const outputProcessors = links.map(([name, late], index) => ({
            id: `${name}-${index}`,
            processOutputStream: ({ part }: { part: Chunk }) => {
              const out = part.type === 'text-delta' ? maps[name](part.payload.text).map(value => text(value)) : part
              return late ? Promise.resolve(out) : out
            },
          }))
          const chain = testRun({ outputProcessors }).runner.streamChain(atStart)
          for (const value of values) {
            const expected = links.reduce<readonly string[]>((all, [name]) => all.flatMap(maps[name]), [value])
            expect(said(await chain.pass(text(value)))).toEqual(expected)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('runs beside each other', () => {
  it('do not share state, conversations or accounts, however their hooks take turns', async () => {
    const counter: Processor<'counter', unknown, { seen: string[] }> = {
      id: 'counter',
      async processOutputStream({ part, state }) {
        state.seen ??= []
        await Promise.resolve()
        if (part.type === 'text-delta') state.seen.push(part.payload.text)
        return part
      },
      processOutputResult({ state, messageList }) {
        messageList.add({ role: 'user', content: state.seen!.join('') }, 'context')
      },
    }
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.array(words, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 4 }),
        async (scheduler, scripts) => {
          const work = scripts.map(async (script, index) => {
            const run = testRun({ outputProcessors: [counter], input: [`run ${index}`] })
            const chain = run.runner.streamChain(atStart)
            for (const value of script) {
              await scheduler.schedule(Promise.resolve())
              await chain.pass(text(value))
            }
            await run.runner.runProcessOutputResult(() => ({ position: atStart, own: {} as never }))
            return run
          })
          const runs = await scheduler.waitFor(Promise.all(work))
          for (const [index, script] of scripts.entries()) {
            expect(textsOf(runs[index]!.list.getMessages())).toEqual([`run ${index}`, script.join('')])
            expect(runs[index]!.runner.ledger.totals[0]).toMatchObject({ callCount: script.length })
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})
