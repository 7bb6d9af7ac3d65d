// How a message that was put into a run enters the conversation: through processInput, as the first ones did.
import { MessageList, type AgentMessage } from '@lockstep/message-list'
import type { Run } from './run.ts'
import type { WaitingMessage } from './steering.ts'

/** Lets in what waits for the next step. Throws: the tripwire of a processor, after the message is out again. */
export function enterSteered(run: Run): Promise<void> | undefined {
  const first = run.options.steering?.take()
  return first && enterAll(run, first)
}

async function enterAll(run: Run, first: WaitingMessage): Promise<void> {
  for (let waiting: WaitingMessage | undefined = first; waiting; waiting = run.options.steering?.take())
    await enter(run, waiting)
}

async function enter(run: Run, { message, settle, refuse }: WaitingMessage): Promise<void> {
  const before = run.list.snapshot()
  run.list.as({ id: 'loop', step: run.stepNumber }).replaceAllSystemMessages(run.originalSystemMessages)
  let entered: readonly AgentMessage[]
  try {
    entered = addedTo(run.list, () => run.list.as({ id: 'caller', step: run.stepNumber }).add(message, 'input'))
  } catch (error) {
    run.withdrawTo(before)
    return refuse(error)
  }
  const ids = new Set(entered.map(({ id }) => id))
  try {
    await run.runner.runProcessInput(run.position, list => list.get.input.db().filter(({ id }) => ids.has(id)))
  } catch (error) {
    run.withdrawTo(before)
    settle({ delivered: false, reason: run.signal.aborted ? 'aborted' : 'tripwire' })
    throw error
  }
  run.originalSystemMessages = run.list.getAllSystemMessages()
  const standing = run.list.get.input.db().filter(({ id }) => ids.has(id))
  run.opened = withInput(run, standing)
  for (const one of standing)
    await run.show(run.chunk('steering-message', { message: one, stepNumber: run.stepNumber }))
  settle({ delivered: true, stepNumber: run.stepNumber })
}

/** The messages that a write put in. */
function addedTo(list: MessageList, write: () => void): readonly AgentMessage[] {
  const before = new Set(list.get.all.db().map(({ id }) => id))
  write()
  return list.get.all.db().filter(({ id }) => !before.has(id))
}

/** What a person said stays when the whole response is withdrawn. */
function withInput(run: Run, messages: readonly AgentMessage[]) {
  const { threadId, resourceId } = run.list
  const home = { ...(threadId === undefined ? {} : { threadId }), ...(resourceId === undefined ? {} : { resourceId }) }
  return new MessageList({ ...home, snapshot: run.opened! }).add(messages, 'input').snapshot()
}
