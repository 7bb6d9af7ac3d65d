import { tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { scriptedModel, type ScriptedTurn } from '@lockstep/agent-loop/testing'
import { auditLog, type AuditEvent } from '@lockstep/processors-builtin/audit-log'
import { contextInjector } from '@lockstep/processors-builtin/context-injector'
import { promptCache } from '@lockstep/processors-builtin/prompt-cache'
import { responseCache } from '@lockstep/processors-builtin/response-cache'
import { toolFilter } from '@lockstep/processors-builtin/tool-filter'
import { toolPolicy } from '@lockstep/processors-builtin/tool-policy'
import { toolSearch } from '@lockstep/processors-builtin/tool-search'
import { runWith } from '@lockstep/testing'
import { orphansIn, turnsOf } from './long-conversation.ts'

const call = (toolName: string, input: object): ScriptedTurn => ({ toolCalls: [{ toolName, input }] })
const inputSchema = z.object({ to: z.string() })
const tools = {
  send_mail: tool({ description: 'Sends a mail.', inputSchema, execute: ({ to }) => `sent to ${to}` }),
  delete_mail: tool({ description: 'Deletes a mail.', inputSchema, execute: () => 'deleted' }),
  lookup: tool({ description: 'Looks something up.', inputSchema: z.object({}), execute: () => 'noon' }),
}

it('all of them work in one run, and the second run of the same is answered from the cache', async () => {
  const events: AuditEvent[] = []
  const processors = [
    toolPolicy<typeof tools>({
      rules: { 'search_*': 'allow', send_mail: ({ input }) => (input.to === 'all' ? 'deny' : 'allow') },
    }),
    toolSearch(),
    toolFilter(),
    promptCache({ mark: { scripted: { cache: true } } }),
    contextInjector({ context: () => 'It is noon.' }),
    responseCache(),
    auditLog({ sink: batch => void events.push(...batch), generateId: () => 'run' }),
  ]
  const turns = [
    call('search_tools', { query: 'mail' }),
    call('send_mail', { to: 'all' }),
    call('send_mail', { to: 'joe' }),
    'It is sent.',
  ]
  const options = { tools, system: 'Help.', history: turnsOf(2), input: 'Tell Joe.' }
  const first = await runWith(processors, { ...options, model: turns })
  expect([first.result.text, first.result.toolResults.at(-1)?.output]).toEqual(['It is sent.', 'sent to joe'])
  expect(first.calls.map(({ tools: offered }) => offered?.map(({ name }) => name))).toEqual([
    ['search_tools'],
    ...Array.from({ length: 3 }, () => ['search_tools', 'send_mail']),
  ])
  expect(first.prompts.flatMap(orphansIn)).toEqual([])
  expect(JSON.stringify(first.prompts[0])).not.toContain('result 0')
  expect(events.filter(({ type }) => type === 'tool-denied')).toMatchObject([{ toolName: 'send_mail' }])
  const second = await runWith(processors, { ...options, model: scriptedModel([]) })
  expect([second.result.text, second.result.totalUsage.totalTokens]).toEqual(['It is sent.', 0])
  expect(second.result.toolResults.at(-1)?.output).toBe('sent to joe')
})
