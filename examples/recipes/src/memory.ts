// Threads that survive the process: the second run remembers the first.
import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { memory } from '@lockstep/memory'
import { sqliteStore } from '@lockstep/memory/sqlite'

const store = sqliteStore({ path: ':memory:' }) // or a file
const model = scriptedModel(['Hello Ada.', 'You are Ada.'])
const agent = new Agent({ name: 'helper', model, memory: memory({ store }) })
const thread = { threadId: 'trip', resourceId: 'ada' }

await agent.generate('I am Ada.', thread)
const { text } = await agent.generate('Who am I?', thread)
console.log(text)
console.log(model.doStreamCalls[1]?.prompt.map(message => message.role).join(' '))
