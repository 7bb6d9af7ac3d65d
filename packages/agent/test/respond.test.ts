import { Agent, AgentError, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { createSession, defineFields } from '@lockstep/batch-executor'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const fields = defineFields(z.object({ hotel: z.string(), date: z.string(), guests: z.number() }))
const steps = [
  { id: 'ask-hotel', prompt: 'Which hotel?', collect: ['hotel'] },
  { id: 'ask-date', prompt: 'What date?', collect: ['date'] },
  { id: 'ask-guests', prompt: 'How many guests?', collect: ['guests'] },
] as const
const reply = (values: object, asks: string | null, message: string) => JSON.stringify({ values, asks, message })
const everything = reply({ hotel: 'Ritz', date: 'Friday', guests: 2 }, null, 'All booked.')

const agentOf = (
  turns: Parameters<typeof scriptedModel>[0],
  config: Partial<ConstructorParameters<typeof Agent>[0]> = {},
) => {
  const model = scriptedModel(turns)
  return { model, agent: new Agent({ name: 'desk', instructions: 'Be kind.', model, ...config }) }
}

describe('an agent with a route', () => {
  it('makes one call of a turn in which everything is said', async () => {
    const { agent, model } = agentOf([everything])
    const booking = agent.createRoute({ title: 'Booking', fields, steps })
    const response = await agent.respond('The Ritz on Friday for two.', {
      routes: [booking],
      session: createSession({ fields }),
    })
    expect(response).toMatchObject({
      message: 'All booked.',
      stoppedReason: 'route_complete',
      executedSteps: [{ id: 'ask-hotel' }, { id: 'ask-date' }, { id: 'ask-guests' }],
      session: { data: { hotel: 'Ritz', date: 'Friday', guests: 2 } },
      callCount: 1,
    })
    expect(model.doStreamCalls).toHaveLength(1)
    const system = model.doStreamCalls[0]!.prompt.flatMap(message =>
      message.role === 'system' ? [message.content] : [],
    )
    expect(system[0]).toBe('Be kind.')
  })

  it('goes on from the session and the list of the last turn', async () => {
    const { agent, model } = agentOf([
      reply({ hotel: 'Ritz', date: null, guests: null }, 'ask-date', 'The Ritz. When?'),
      reply({ date: 'Friday', guests: 2 }, null, 'All booked.'),
    ])
    agent.createRoute({ title: 'Booking', fields, steps })
    const first = await agent.respond('The Ritz, please.')
    expect(first).toMatchObject({ message: 'The Ritz. When?', stoppedReason: 'needs_input' })
    const { session, messageList } = first
    const second = await agent.respond('Friday, we are two.', { session, messageList })
    expect(second.session.data).toEqual({ hotel: 'Ritz', date: 'Friday', guests: 2 })
    const { prompt } = model.doStreamCalls[1]!
    expect(prompt.filter(message => message.role === 'system' && message.content === 'Be kind.')).toHaveLength(1)
    expect(prompt.map(({ role }) => role).filter(role => role !== 'system')).toEqual(['user', 'assistant', 'user'])
  })

  it('streams the message alone', async () => {
    const pieces = everything.match(/.{1,7}/g)!
    const { agent } = agentOf([{ text: pieces }])
    agent.createRoute({ title: 'Booking', fields, steps })
    let text = ''
    for await (const chunk of agent.streamResponse('The Ritz on Friday for two.'))
      text = chunk.type === 'text-reset' ? '' : text + chunk.text
    expect(text).toBe('All booked.')
  })

  it('lets its processors see, change and refuse each call', async () => {
    const seen: string[] = []
    const guard: Processor = {
      id: 'guard',
      processInputStep: () => void seen.push('step'),
      processOutputStep: ({ text, abort }) => void (text.includes('Ritz') && abort('not the Ritz')),
    }
    const { agent } = agentOf([everything], { inputProcessors: [guard], outputProcessors: [guard] })
    agent.createRoute({ title: 'Booking', fields, steps })
    const session = createSession({ fields })
    const response = await agent.respond('The Ritz on Friday for two.', { session })
    expect(response).toMatchObject({ error: { code: 'refused' } })
    expect(response.session).toBe(session)
    expect(seen).toEqual(['step'])
  })

  it('keeps its memory out of what a batch writes to itself', async () => {
    const { agent } = agentOf([everything], {
      memory: {
        around: () => {
          throw new Error('asked')
        },
      },
    })
    agent.createRoute({ title: 'Booking', fields, steps })
    expect((await agent.respond('The Ritz on Friday for two.')).message).toBe('All booked.')
  })

  it('tells what it decides where it is asked to', async () => {
    const lines: string[] = []
    const { agent } = agentOf([everything], { debug: line => void lines.push(line) })
    agent.createRoute({ title: 'Booking', fields, steps })
    await agent.respond('The Ritz on Friday for two.')
    expect(lines[0]).toBe('[BatchExecutor] Starting batch determination from step index 0')
    const events: string[] = []
    agent.batchExecutor.addEventListener(({ type }) => void events.push(type))
    agent.batchExecutor.determineBatch({
      session: createSession({ fields }),
      route: agent.createRoute({ title: 'B', fields, steps }),
    })
    expect(events.length).toBeGreaterThan(0)
  })

  it('without one says how to make one', async () => {
    const { agent } = agentOf([])
    await expect(agent.respond('Hi')).rejects.toSatisfy(error => AgentError.isInstance(error))
    await expect(agent.respond('Hi')).rejects.toThrow('agent.createRoute')
  })
})
