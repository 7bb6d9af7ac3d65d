import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runLoop, type LoopResult } from '@lockstep/agent-loop'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { loopDetector, type Loop, type LoopDetectorOptions } from '@lockstep/processors-builtin/loop-detector'
import { cut, delta, pass, runOf, runCount } from './redactor-run.ts'
import { processorContract } from '@lockstep/testing/vitest'

const call = (toolName: string, input: unknown): ScriptedTurn => ({ toolCalls: [{ toolName, input }] })
const again = call('lookup', { query: 'trains' })

processorContract(() => loopDetector(), {
  texts: ['round and round '.repeat(40)],
  scripts: [[again, again, again, again, again, 'There.']],
})

const any = z.record(z.string(), z.unknown())

interface Outcome {
  readonly result: LoopResult
  readonly loops: readonly Loop[]
  /** What the model was given in each call: its system messages, and whether it had a choice of tools. */
  readonly asked: readonly { readonly system: readonly string[]; readonly toolChoice: string | undefined }[]
}

async function run(
  turns: readonly ScriptedTurn[],
  options: LoopDetectorOptions = {},
  retries?: number,
): Promise<Outcome> {
  const loops: Loop[] = []
  const detector = loopDetector({ ...options, onLoop: loop => loops.push(loop) })
  const model = scriptedModel(turns)
  const messageList = new MessageList()
  messageList.add('Go', 'input')
  let clock = 0
  const chunks = runLoop({
    model,
    messageList,
    maxSteps: 30,
    tools: {
      read: tool({ inputSchema: any, execute: () => 'the same content' }),
      clock: tool({ inputSchema: any, execute: () => ++clock }),
      fail: tool({ inputSchema: any, execute: (): Promise<string> => Promise.reject(new Error('no')) }),
    },
    inputProcessors: [detector],
    outputProcessors: [detector],
    ...(retries === undefined ? {} : { maxProcessorRetries: retries }),
  })
  let next = await chunks.next()
  while (next.done !== true) next = await chunks.next()
  const asked = model.doStreamCalls.map(({ prompt, toolChoice }) => ({
    system: prompt.flatMap(({ role, content }) => (role === 'system' ? [content as string] : [])),
    toolChoice: toolChoice?.type,
  }))
  return { result: next.value, loops, asked }
}

describe('the loop detector', () => {
  it('tells the model about the same call, then asks for an answer without tools', async () => {
    const turns = Array.from({ length: 4 }, () => call('read', { path: 'a', line: 1 }))
    const { result, asked, loops } = await run([...turns, 'That is all I know.'])
    expect(asked.map(({ system }) => system)).toEqual([
      [],
      [],
      [],
      [
        'The same call of read was made 3 times in a row, with the same result each time. Do something else, or answer with what you have.',
      ],
      ['The same call of read was made 4 times in a row, with the same result each time. Answer with what you have.'],
    ])
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'auto', 'none'])
    expect(loops).toEqual([
      { kind: 'same-outcome', roundLength: 1, tools: ['read'], action: 'nudge' },
      { kind: 'same-outcome', roundLength: 1, tools: ['read'], action: 'answer' },
    ])
    expect([result.text, result.stopReason]).toEqual(['That is all I know.', 'completed'])
  })

  it('stops a model that calls tools when it has none', async () => {
    const { result, loops } = await run(Array.from({ length: 9 }, () => call('read', { path: 'a' })))
    expect([result.stopReason, result.steps.length]).toEqual(['tripwire', 5])
    expect(result.tripwire).toMatchObject({ processorId: 'loop-detector', metadata: { action: 'stop' } })
    expect(loops.map(({ action }) => action)).toEqual(['nudge', 'answer', 'stop'])
  })

  it('sees a ping-pong, in whatever order properties and calls come', async () => {
    const round = [
      {
        toolCalls: [
          { toolName: 'read', input: { a: 1, b: 2 } },
          { toolName: 'read', input: { c: 3 } },
        ],
      },
      call('fail', {}),
      {
        toolCalls: [
          { toolName: 'read', input: { c: 3 } },
          { toolName: 'read', input: { b: 2, a: 1 } },
        ],
      },
      call('fail', {}),
    ]
    const { loops, asked } = await run([...round, ...round.slice(0, 2), 'Stopped.'])
    expect(loops).toEqual([{ kind: 'same-outcome', roundLength: 2, tools: ['read', 'fail'], action: 'nudge' }])
    expect(asked.at(-1)!.system[0]).toContain('The same 2 steps (read, fail) were made 3 times in a row')
  })

  it('lets a model wait for something that changes, but not for ever', async () => {
    const turns = Array.from({ length: 5 }, () => call('clock', {}))
    expect((await run([...turns, 'Done.'])).loops).toEqual([])
    expect((await run([...turns, ...turns.slice(0, 1), 'Done.'])).loops).toMatchObject([{ kind: 'same-call' }])
    expect((await run([...turns, ...turns, 'Done.'], { ignore: ['clock'] })).loops).toEqual([])
  })

  it('lets a model make the same call again after another', async () => {
    const turns = ['a', 'a', 'b', 'a', 'a', 'c', 'a', 'a'].map(path => call('read', { path }))
    expect((await run([...turns, 'Done.'])).loops).toEqual([])
  })

  it('names the tools to a model that calls others', async () => {
    const { loops, asked } = await run([...['find', 'look', 'open'].map(name => call(name, {})), 'Sorry.'])
    expect(loops).toMatchObject([{ kind: 'unknown-tool', action: 'nudge' }])
    expect(asked.at(-1)!.system[0]).toContain('There is no tool open. The tools are: read, clock, fail.')
  })

  it('asks for another answer when a text repeats itself, then stops', async () => {
    const stuck = {
      text: ['I will look at it. ', ...Array.from({ length: 80 }, () => 'Let me check the file again. ')],
    }
    const helped = await run([stuck, 'It is fine.'], {}, 3)
    expect([helped.result.text, helped.loops]).toEqual([
      'It is fine.',
      [{ kind: 'same-text', roundLength: 1, tools: [], action: 'nudge' }],
    ])
    expect(helped.asked[1]!.system[0]).toContain('again and again. Say it once, and go on.')
    const lost = await run([stuck, stuck], {}, 3)
    expect([lost.result.stopReason, lost.result.text, lost.loops.length]).toEqual(['tripwire', '', 2])
    expect((await run([stuck], { textLength: false })).result.text).toHaveLength(2339)
  })

  it.each([
    [
      'prose',
      'The quick brown fox jumps over the lazy dog, '
        .split(' ')
        .map((word, index) => `${word}${index} `)
        .join('')
        .repeat(3),
    ],
    ['a table', `${'| --- '.repeat(300)}\n`.repeat(2)],
    ['numbers', '0x00, 0x0f, '.repeat(200)],
    ['white space', ' \n'.repeat(2_000)],
    ['a few of the same lines', 'Nothing to see on this line.\n'.repeat(30)],
    ['rounds that differ', Array.from({ length: 300 }, (_, index) => `Line ${index} is fine.\n`).join('')],
  ])('has nothing against %s', async (_what, text) => {
    const detector = loopDetector()
    const run = runOf(detector)
    expect(await pass(run, delta(text))).toEqual([delta(text)])
  })

  it('stops a text at the same place for any cut', async () => {
    const passages = fc.constantFrom('Let me see. ', 'ja ja ', 'aber nein, ', 'word ')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(passages, fc.integer({ min: 1, max: 60 })), { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (rounds, cuts) => {
          const text = rounds.map(([passage, times]) => passage.repeat(times)).join('')
          const stopped = async (pieces: readonly string[]) => {
            const run = runOf(loopDetector({ textLength: 200 }))
            for (const piece of pieces)
              try {
                await pass(run, delta(piece))
              } catch (error) {
                return String(error)
              }
            return 'not stopped'
          }
          const whole = await stopped([text])
          expect(await stopped(cut(text, cuts))).toBe(whole)
          expect(await stopped(text.split(''))).toBe(whole)
        },
      ),
      { numRuns: runCount(200) },
    )
  })

  it.each([
    { repeats: Number.NaN },
    { callRepeats: 0 },
    { maxRoundLength: -1 },
    { nudges: Number.NaN },
    { textLength: Number.NaN },
  ])('refuses %j, which would find nothing', options => {
    expect(() => loopDetector(options)).toThrow(expect.objectContaining({ code: 'invalid-limit' }))
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['loop-detector', { repeats: 5 }])).id).toBe('loop-detector')
  })
})
