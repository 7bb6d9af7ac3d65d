// The agent: a clerk in a tea shop, two tools, a redactor and two guards.
import { Agent, type Processor } from '@lockstep/agent'
import { tool } from 'ai'
import { z } from 'zod'
import { clerkModel, type Pace } from './clerk-model.ts'

const tools = {
  findTea: tool({
    description: 'The teas of the shop',
    inputSchema: z.object({}),
    execute: () => ({ teas: ['oolong', 'sencha', 'earl grey'] }),
  }),
  placeOrder: tool({
    description: 'Orders tea, which costs money',
    inputSchema: z.object({ item: z.string(), quantity: z.number().int().positive() }),
    needsApproval: true,
    execute: ({ item, quantity }) => ({ ordered: `${quantity} × ${item}` }),
  }),
}

/** Tries a step again that promises too much. The page is told why, in passing: the note is no part of the message. */
const promiseGuard: Processor = {
  id: 'promise-guard',
  async processOutputStep({ text, abort, writer }) {
    if (!text?.includes('guaranteed')) return
    await writer.custom({ type: 'data-retry', data: { reason: 'It promised too much.' }, transient: true })
    abort('No promises: say what is usual.', { retry: true })
  },
}

/** Ends a run that gives away what is for staff. */
const staffGuard: Processor = {
  id: 'staff-guard',
  processOutputStep({ text, abort }) {
    if (text?.includes('STAFF')) abort('Discounts for staff are not for sale.')
  },
}

/** Makes the agent of a server. `approvalSecret` signs what a person is asked. */
export function shopAgent(pace: Pace, approvalSecret: string) {
  return new Agent({
    name: 'clerk',
    instructions: 'You are a clerk in a tea shop.',
    model: clerkModel(pace),
    tools,
    outputProcessors: ['secret-redactor', promiseGuard, staffGuard],
    maxProcessorRetries: 2,
    defaultOptions: { approvalSecret },
  })
}
