import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSchema, type ToolSet } from 'ai'
import { resumeLoop, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import type { Processor } from '@lockstep/processors'
import { contextInjector, type ContextInjectorOptions } from '@lockstep/processors-builtin/context-injector'
import { promptCache } from '@lockstep/processors-builtin/prompt-cache'
import { runWith, type ProcessorRun, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { orphansIn, turnsOf } from './long-conversation.ts'
import { runCount } from './redactor-run.ts'

processorContract(() => contextInjector({ context: ({ question }) => `About ${question}`, every: 'step' }))
processorContract(() => contextInjector({ context: () => Promise.resolve('It rains.') }))
processorContract(() => contextInjector({ context: () => 'It rains.', persist: true }))

const tools = { lookup: { inputSchema: jsonSchema({}), execute: () => 'noon' } } as unknown as ToolSet
const call: ScriptedTurn = { toolCalls: [{ toolName: 'lookup', input: {} }] }

async function run(options: Partial<ContextInjectorOptions>, more: RunWithOptions = {}) {
  let count = 0
  const injector = contextInjector({ context: () => `fact ${++count}`, ...options })
  const outcome = await runWith(injector, { model: [call, 'Yes.'], tools, input: 'Why?', ...more })
  expect(outcome.prompts.flatMap(orphansIn)).toEqual([])
  return outcome
}

/** The prompts as rows of roles, texts behind those that have one. */
const rows = ({ prompts }: ProcessorRun) =>
  prompts.map(prompt =>
    prompt.map(({ role, content }) => {
      const texts =
        typeof content === 'string' ? [content] : content.flatMap(part => ('text' in part ? [part.text] : []))
      return [role, ...texts].join(' | ').replaceAll('\n', ' ')
    }),
  )

const stored = ({ result }: ProcessorRun) => JSON.stringify(result.messageList.get.all.db())

describe('the context injector', () => {
  it('puts the context in front of the question, the same in each step', async () => {
    const outcome = await run({}, { history: turnsOf(1, 1), system: 'Help.' })
    for (const row of rows(outcome)) {
      expect(row.filter(one => one.includes('fact'))).toEqual(['user | <context> fact 1 </context> | Why?'])
      expect(row[0]).toBe('system | Help.')
    }
    expect(stored(outcome)).not.toContain('fact')
  })

  it('asks for each step, and puts what it gets at the end', async () => {
    const outcome = await run({ every: 'step', name: 'page' })
    expect(rows(outcome).map(row => row.at(-1))).toEqual([
      'user | Why? | <page> fact 1 </page>',
      'user | <page> fact 2 </page>',
    ])
    expect(stored(outcome)).not.toContain('fact')
  })

  it('makes it an instruction', async () => {
    const outcome = await run({ position: 'system' }, { system: 'Help.', history: turnsOf(1, 1) })
    expect(rows(outcome).map(row => row.slice(0, 2))).toEqual([
      ['system | Help.', 'system | <context> fact 1 </context>'],
      ['system | Help.', 'system | <context> fact 1 </context>'],
    ])
    expect(rows(await run({ position: 'system' }))[0]![0]).toBe('system | <context> fact 1 </context>')
  })

  it('keeps it in the conversation when it is told to', async () => {
    const outcome = await run({ persist: true })
    expect(stored(outcome).match(/fact \d/g)).toEqual(['fact 1'])
    expect(rows(outcome).map(row => row[0])).toEqual(
      Array.from({ length: 2 }, () => 'user | <context> fact 1 </context> | Why?'),
    )
  })

  it('knows the question, the time and who asks', async () => {
    const asked: unknown[] = []
    const now = () => new Date(0)
    await run({
      now,
      context: request =>
        void asked.push([request.question, request.now.getTime(), request.stepNumber, request.messages.length]),
    })
    expect(asked).toEqual([['Why?', 0, 0, 1]])
  })

  it.each([undefined, ''])('adds nothing when it is given %j', async nothing => {
    const outcome = await run({ context: () => nothing })
    expect([rows(outcome)[0], outcome.result.trace.events]).toEqual([['user | Why?'], []])
    expect(stored(await run({ context: () => nothing, persist: true }))).not.toContain('<context>')
  })

  it('fails the run when the context cannot be had, unless it is told to go on', async () => {
    const context = () => Promise.reject(new Error('The index is down.'))
    expect((await run({ context })).result.error).toMatchObject({ code: 'hook-failed' })
    const lenient: Processor = { ...contextInjector({ context }), onError: 'skip' } as Processor
    expect((await runWith(lenient, { model: ['Yes.'] })).result.text).toBe('Yes.')
  })

  it('is left by an abort while it waits', async () => {
    const controller = new AbortController()
    const context = () => (controller.abort(new Error('Enough.')), new Promise<string>(() => {}))
    expect((await run({ context }, { abortSignal: controller.signal })).result.stopReason).toBe('aborted')
  })

  it('asks once when the run is put down and taken up elsewhere', async () => {
    const asking: Processor = { id: 'asking', processToolCall: () => ({ ask: 'May it?' }) }
    const { result } = await run({}, { others: { outputProcessors: [asking] } })
    const injector = contextInjector({ context: () => 'another fact' })
    const model = scriptedModel(['Yes.'])
    const state = JSON.parse(JSON.stringify(result.loopState)) as NonNullable<LoopResult['loopState']>
    const decisions = result.pendingApprovals.map(({ approvalId }) => ({ approvalId, approved: true as const }))
    const loop = resumeLoop(
      { state, decisions },
      { model, tools, inputProcessors: [injector], outputProcessors: [asking] },
    )
    for (let next = await loop.next(); !next.done; next = await loop.next());
    expect(JSON.stringify(model.doStreamCalls[0]!.prompt)).toContain('fact 1')
  })

  it('lets two of them stand side by side', async () => {
    const two = ['a', 'b'].map(id => contextInjector({ id, name: id, context: () => `from ${id}` }))
    const { prompts } = await runWith(two, { model: ['Yes.'], input: 'Why?' })
    expect(JSON.stringify(prompts[0])).toMatch(/<b>.*<a>.*Why\?/)
  })

  it('keeps what is after it outside of a cached beginning', async () => {
    const model = scriptedModel(['Yes.'])
    Object.defineProperty(model, 'provider', { value: 'anthropic' })
    const after = contextInjector({ context: () => 'fact', every: 'step' })
    const { prompts } = await runWith([promptCache(), after], { model, input: 'Why?' })
    expect(prompts[0]!.map(({ providerOptions }) => providerOptions !== undefined)).toEqual([true, false])
  })

  it('lets no text out of its fence', async () => {
    const piece = fc.constantFrom(
      '<',
      '/',
      ' ',
      '\n',
      '\u200b',
      'context',
      'CONTEXT',
      '>',
      'x',
      '</context>',
      '<context>',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1 }).map(pieces => pieces.join('')),
        async text => {
          const { prompts } = await run({ context: () => text })
          const [shown] = prompts[0]![0]!.content as readonly { readonly text: string }[]
          expect(shown!.text.match(/<[\s/\u200b]*context/giu)).toHaveLength(2)
          expect(shown!.text.replaceAll('&lt;', '<')).toBe(`<context>\n${text.replaceAll('&lt;', '<')}\n</context>`)
        },
      ),
      { numRuns: runCount(100) },
    )
    const hostile = '< '.repeat(200_000)
    expect(JSON.stringify((await run({ context: () => hostile })).prompts[0])).toContain('< < <')
  })

  it('finds the question after ten thousand messages, and where it was edited', async () => {
    const edited: Processor = {
      id: 'edited',
      processLLMRequest: ({ prompt }) => ({
        prompt: prompt.map(message =>
          message.role === 'user' && JSON.stringify(message).includes('Why?')
            ? { ...message, content: [{ type: 'text' as const, text: 'Why so?' }] }
            : message,
        ),
      }),
    }
    const injector = contextInjector({ context: () => 'fact' })
    for (const history of [turnsOf(2_500, 1), []]) {
      const { prompts } = await runWith([edited, injector], { model: ['Yes.'], input: 'Why?', history })
      expect(JSON.stringify(prompts[0]!.at(-1))).toMatch(/fact.*Why so\?/)
    }
  })

  it('refuses options that make no sense', () => {
    const context = () => 'fact'
    expect(() => contextInjector({} as ContextInjectorOptions)).toThrow('needs context')
    expect(() => contextInjector({ context, name: 'a b' })).toThrow("cannot be 'a b'")
    expect(() => contextInjector({ context, persist: true, every: 'step' })).toThrow("every 'step'")
  })
})
