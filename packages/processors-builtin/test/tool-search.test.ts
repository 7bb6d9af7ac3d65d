import { jsonSchema, tool, type ToolSet } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ScriptedTurn } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { toolSearch, type ToolSearchEvent, type ToolSearchOptions } from '@lockstep/processors-builtin/tool-search'
import { runWith, type RunWithOptions } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { runCount } from './redactor-run.ts'

processorContract(() => toolSearch({ always: ['lookup', 'fails'] }), {
  scripts: [[search('act'), { toolCalls: [{ toolName: 'act', input: {} }] }, 'Done.']],
})

const named = (description: string, properties: Record<string, object> = {}) =>
  tool({ description, inputSchema: jsonSchema({ type: 'object', properties }), execute: () => 'done' })

const tools: ToolSet = {
  get_date: named('Tells the date.'),
  createIssue: named('Opens a ticket in the tracker.', {
    title: { type: 'string', description: 'headline of the bug' },
  }),
  list_issues: named('Lists tickets.'),
  'mail.send': named('Sends an e-mail.', { recipient: { type: 'string' } }),
  calendar_book: named('Books a meeting with people.'),
  get_weather: named('Tells the weather.'),
}

function search(query: unknown): ScriptedTurn {
  return { toolCalls: [{ toolName: 'search_tools', input: { query } }] }
}
const use = (toolName: string): ScriptedTurn => ({ toolCalls: [{ toolName, input: {} }] })

async function run(options: ToolSearchOptions, turns: readonly ScriptedTurn[], more: RunWithOptions = {}) {
  const told: ToolSearchEvent[] = []
  const processor = toolSearch({ always: ['get_*'], onSearch: event => told.push(event), ...options })
  const outcome = await runWith(processor, { model: [...turns, 'Done.'], tools, ...more })
  const shown = outcome.calls.map(call => (call.tools ?? []).map(({ name }) => name))
  return { ...outcome, told, shown }
}

const found = async (query: string, limit = 5) => (await run({ limit }, [search(query)])).told[0]!.tools

describe('the tool search', () => {
  it('shows few tools, and those that were found from the next step on', async () => {
    const { shown, result } = await run({}, [search('open a ticket'), use('createIssue'), search('e-mail')])
    const few = ['get_date', 'get_weather', 'search_tools']
    expect(shown[0]).toEqual(few)
    expect(shown[1]!.slice(0, 4)).toEqual([...few, 'createIssue'])
    expect(shown[3]!.at(-1)).toBe('mail.send')
    expect(result.toolResults.map(({ output }) => output as unknown)[1]).toBe('done')
  })

  it('only ever adds to the end, so that what a provider has cached stays of use', async () => {
    const queries = fc.array(fc.constantFrom('ticket', 'mail', 'meeting', 'nothing like it', 'people'), {
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(queries, async words => {
        const { shown } = await run({}, words.map(search))
        for (const [index, names] of shown.entries())
          expect(shown[index + 1]?.slice(0, names.length) ?? names).toEqual(names)
      }),
      { numRuns: runCount(30) },
    )
  })

  it('finds by name, description and parameters, in parts of words and plurals', async () => {
    expect((await found('issue')).toSorted()).toEqual(['createIssue', 'list_issues'])
    expect((await found('TICKETS')).toSorted()).toEqual(['createIssue', 'list_issues'])
    expect(await found('headline')).toEqual(['createIssue'])
    expect(await found('recipients')).toEqual(['mail.send'])
    expect(await found('book meetings', 1)).toEqual(['calendar_book'])
    expect(await found('what is the')).toEqual([])
    expect(await found('')).toEqual([])
  })

  it('says when nothing fits, and lives with an input that does not', async () => {
    const { result, shown } = await run({}, [
      search('zebra'),
      search(7),
      { toolCalls: [{ toolName: 'search_tools', input: '{' }] },
    ])
    expect(result.steps[0]!.toolResults[0]!.output).toEqual({
      tools: [],
      hint: 'No tool fits. Try other words, or go on without.',
    })
    expect([result.stopReason, shown.at(-1)]).toEqual(['completed', ['get_date', 'get_weather', 'search_tools']])
    expect(result.steps.slice(1, 3).every(step => step.toolErrors.length === 1)).toBe(true)
  })

  it('does not run a tool that was not found', async () => {
    const { result } = await run({}, [use('createIssue')])
    expect(result.steps[0]!.toolErrors).toHaveLength(1)
  })

  it('knows in a later run what was found in an earlier one', async () => {
    const first = await run({}, [search('ticket')])
    const history = first.result.messageList.get.all.db()
    const messageList = new MessageList().add([...history], 'memory').add('And now?', 'input')
    const second = await run({}, [search('mail')], { messageList })
    expect(second.shown[0]).toEqual(first.shown[1])
    expect(second.shown[1]).toEqual([...first.shown[1]!, 'mail.send'])
  })

  it('lets the tools go that were found first when there are too many', async () => {
    const { shown } = await run({ maxFound: 1, limit: 1 }, ['mail', 'meeting', 'mail'].map(search))
    expect(shown.map(names => names.slice(3))).toEqual([[], ['mail.send'], ['calendar_book'], ['mail.send']])
  })

  it('finds only what is active, and shows the tool that has to be called', async () => {
    const activeTools = ['get_date', 'mail.send']
    const { told, shown } = await run({}, [search('ticket mail')], { activeTools })
    expect([told[0]!.tools, shown]).toEqual([
      ['mail.send'],
      [
        ['get_date', 'search_tools'],
        ['get_date', 'search_tools', 'mail.send'],
      ],
    ])
    const toolChoice = { type: 'tool', toolName: 'list_issues' } as const
    expect((await run({}, [], { toolChoice })).shown[0]).toContain('list_issues')
  })

  it('stays away where every tool is shown', async () => {
    expect((await run({ always: ['*'] }, [])).shown[0]).toEqual(Object.keys(tools))
    expect((await run({}, [], { tools: {} })).shown[0]).toEqual([])
  })

  it('believes only names of tools in what a search gave', async () => {
    for (const output of [undefined, 'x', { tools: 'x' }, { tools: [null, 1, { name: 1 }, { name: 'delete_all' }] }]) {
      const tampered = { id: 'tampered', processToolResult: () => ({ output }) }
      const { shown, result } = await run({}, [search('ticket')], { others: { outputProcessors: [tampered] } })
      expect([result.stopReason, shown[1]]).toEqual(['completed', shown[0]])
    }
  })

  it('takes another name, and says when there is a tool with its own', async () => {
    expect((await run({ name: 'find' }, [])).shown[0]).toContain('find')
    const { result } = await run({}, [], { tools: { ...tools, search_tools: named('Mine.') } })
    expect(result.error).toMatchObject({ cause: { code: 'tool-exists' } })
    expect(() => toolSearch({ limit: 0 })).toThrow('A search for 0 tools is none.')
  })

  it('reads schemas of any kind, once for all runs', async () => {
    let readCount = 0
    const lazy = {
      description: 'Lazy.',
      inputSchema: jsonSchema(() => {
        readCount++
        return Promise.resolve({ type: 'object' as const, properties: { zeppelin: { type: 'string' as const } } })
      }),
      execute: () => 'done',
    } as unknown as ToolSet[string]
    const strict = tool({
      inputSchema: z.object({ balloon: z.array(z.object({ basket: z.string() })) }),
      execute: () => 1,
    })
    const processor = toolSearch()
    const both = { lazy, strict }
    for (const query of ['zeppelin', 'basket', 'zeppelin'])
      await runWith(processor, { model: [search(query), 'Done.'], tools: { ...both } })
    const { told } = await run({ always: [] }, [search('zeppelin'), search('basket')], { tools: both })
    expect(told.map(({ tools: names }) => names)).toEqual([['lazy'], ['strict']])
    expect(readCount).toBeLessThanOrEqual(2)
  })

  it('finds one of ten thousand tools', async () => {
    const many: ToolSet = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [
        `tool_${index}`,
        named(`Does the job number${index} of the factory.`),
      ]),
    )
    const { told, shown } = await run({ always: ['tool_1', 'tool_2'] }, [search('number7777')], { tools: many })
    expect(told[0]!.tools[0]).toBe('tool_7777')
    expect(shown[1]!.length).toBeLessThan(10)
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin(['tool-search', { always: ['a'] }])).id).toBe('tool-search')
  })
})
