// A process of its own that talks on one thread until it is killed: `node writer-process.ts KIND ADDRESS THREAD NAME COUNT`.
// It says each turn that was acknowledged, before it begins the next.
import { writeSync } from 'node:fs'
import { postgresStore } from '@lockstep/memory/postgres'
import { sqliteStore } from '@lockstep/memory/sqlite'
import { conversation } from './conversation.ts'

const [kind, address = '', threadId = '', name = '', count = ''] = process.argv.slice(2)
const store = kind === 'sqlite' ? sqliteStore({ path: address }) : postgresStore({ connectionString: address })

for (let turn = 0; turn < Number(count); turn++) {
  const call = { toolName: 'weather', input: { city: name }, toolCallId: `${name}-${turn}` }
  const { agent } = conversation([{ toolCalls: [call] }, `answer ${name} ${turn}`], {
    store,
    memory: { lastMessages: 4 },
  })
  await agent.generate(`question ${name} ${turn}`, { threadId })
  writeSync(1, `${turn}\n`)
}
await store.close()
