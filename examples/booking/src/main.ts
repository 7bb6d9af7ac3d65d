// A hotel desk on the terminal: says what is in the arguments, or opens a prompt, and tells after each answer what it took.
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { Desk, describeTurn } from './desk.ts'
import { ruleModel } from './model/rule-model.ts'

const help = `Books a hotel room in a conversation.

  npm run booking                                  opens a prompt; an empty line ends it
  npm run booking -- "first line" "second line"    says these lines and ends
  npm run booking -- --today 2026-11-21 ...        what "tomorrow" is counted from
  npm run booking -- --debug ...                   shows what the executor decides

The model is embedded: rules that find hotels, dates, numbers, and yes or no. It understands nothing else.
`
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0) // Whoever read us has seen enough.
})

try {
  await main(process.argv.slice(2))
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error
  if (!interrupted.signal.aborted && !isUsage) throw error
  process.stderr.write(isUsage ? `${error.message}\n\n${help}` : '\nStopped.\n')
  process.exitCode = isUsage ? 1 : 130
}

async function main(args: readonly string[]): Promise<void> {
  const options = { help: { type: 'boolean' }, debug: { type: 'boolean' }, today: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  if (values.help) return void process.stdout.write(help)
  const today = values.today === undefined ? new Date() : new Date(`${values.today}T12:00:00`)
  if (Number.isNaN(today.getTime())) {
    throw Object.assign(new TypeError(`"${values.today}" is not a date. Give it as 2026-11-21.`), { code: 'BAD_DATE' })
  }
  const model = ruleModel({ today, chunkDelayMs: process.stdout.isTTY ? 12 : 0 })
  const decisions: string[] = []
  const desk = new Desk({ model, ...(values.debug && { debug: line => void decisions.push(line) }) })
  const take = async (words: string | undefined) => {
    await turn(desk, words)
    // The answer comes first, then how it came about.
    for (const line of decisions.splice(0)) process.stdout.write(`      ${line}\n`)
  }
  await take(undefined)
  for await (const line of positionals.length > 0 ? said(positionals) : typed()) await take(line)
  process.stdout.write(`\n${JSON.stringify(desk.data, null, 2)}\n`)
}

/** One turn, shown as it is written. */
async function turn(desk: Desk, words: string | undefined): Promise<void> {
  const answer = desk.say(words, interrupted.signal)
  process.stdout.write('\nDesk: ')
  let next = await answer.next()
  for (; !next.done; next = await answer.next()) {
    process.stdout.write(next.value.type === 'text-delta' ? next.value.text : '… (taken back)\nDesk: ')
  }
  interrupted.signal.throwIfAborted()
  if (next.value.error !== undefined) process.stdout.write(`(${next.value.error.message})`)
  process.stdout.write(`\n      (${describeTurn(next.value)})\n`)
}

function* said(lines: readonly string[]): Generator<string> {
  for (const line of lines) {
    process.stdout.write(`\nYou:  ${line}\n`)
    yield line
  }
}

async function* typed(): AsyncGenerator<string> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout, prompt: '\nYou:  ' })
  prompt.on('SIGINT', () => process.emit('SIGINT'))
  interrupted.signal.addEventListener('abort', () => prompt.close(), { once: true })
  prompt.prompt()
  for await (const line of prompt) {
    if (line.trim() === '') break
    if (!process.stdin.isTTY) process.stdout.write(`${line}\n`)
    yield line
    prompt.prompt()
  }
  prompt.close()
  interrupted.signal.throwIfAborted()
}
