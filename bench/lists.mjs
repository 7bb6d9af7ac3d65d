// What a list of messages costs, Lockstep's beside others: loading, adding one by one, and a prompt after one more message.
// `node lists.mjs` runs all, each contestant in a process of its own; `node lists.mjs mastra` runs one.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const here = import.meta.dirname
const [only] = process.argv.slice(2)

/** Stored messages: users, and assistants with a tool call and its result. */
const storedMessages = count =>
  Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 ? 'assistant' : 'user',
    createdAt: new Date(1e12 + index * 1000).toISOString(),
    threadId: 't',
    resourceId: 'r',
    content: { format: 2, parts: [{ type: 'text', text: `message number ${index}` }] },
  }))

async function medianMs(rounds, work) {
  const times = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[rounds >> 1]
}

async function measure(name) {
  const { addAll, addEach, addOne, prompt } = await import(`./lists/${name}.mjs`)
  const stored = storedMessages(8000)
  const list = await addAll(storedMessages(10_000))
  await prompt(list)
  return {
    name,
    'load 8,000 stored messages': await medianMs(3, () => addAll(stored)),
    'add 8,000 one by one': addEach ? await medianMs(1, () => addEach(stored)) : undefined,
    'prompt after one more, of 10,000': await medianMs(3, async () => {
      addOne(list, 'one more')
      await prompt(list)
    }),
  }
}

if (only) console.log(JSON.stringify(await measure(only)))
else {
  const names = readdirSync(join(here, 'lists')).map(file => file.replace(/\.mjs$/, ''))
  const results = names.map(name =>
    JSON.parse(execFileSync(process.execPath, [join(here, 'lists.mjs'), name], { encoding: 'utf8' })),
  )
  const works = Object.keys(results.find(result => result.name === 'lockstep')).filter(key => key !== 'name')
  const cell = ms => (ms === undefined ? '–' : `${ms.toFixed(ms < 10 ? 2 : 0)} ms`)
  console.log(`| work | ${names.join(' | ')} |\n|---|${names.map(() => '---|').join('')}`)
  for (const work of works) console.log(`| ${work} | ${results.map(result => cell(result[work])).join(' | ')} |`)
}
