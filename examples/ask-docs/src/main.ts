// Asks a folder of Markdown: reads the folder, answers on the terminal as the words come, then shows sources and trace.
import { chat } from './chat.ts'
import { help, readCommandLine } from './command-line.ts'
import { Conversation } from './conversation.ts'
import { docsAgent } from './docs-agent.ts'
import { describeSkipped, readDocsFolder } from './docs/docs-folder.ts'
import { AskDocsError } from './errors.ts'
import { intake } from './intake.ts'
import { chooseModel } from './model/choose-model.ts'
import { explainModelError } from './model/explain-model-error.ts'

const streamingDelayMs = 8
const interrupted = new AbortController()

process.once('SIGINT', () => interrupted.abort())
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0) // Whoever read us has seen enough.
})

try {
  await main(interrupted.signal)
} catch (error) {
  if (interrupted.signal.aborted) {
    process.stderr.write('\nStopped.\n')
    process.exitCode = 130
  } else if (AskDocsError.isInstance(error)) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  } else throw error
}

async function main(signal: AbortSignal): Promise<void> {
  const line = readCommandLine(process.argv.slice(2))
  if (line.help) return void process.stdout.write(help)
  const { folder, passOver, question, ask } = intake(line)
  const { model, label } = chooseModel(process.env, process.stdout.isTTY ? streamingDelayMs : 0)
  const { documents, skipped } = await readDocsFolder(folder, passOver)
  if (skipped.length > 0) process.stderr.write(`Left out ${skipped.length}:\n${describeSkipped(skipped)}\n`)
  process.stdout.write(`${documents.length} documents in ${folder}\nModel: ${label}\n`)
  const conversation = new Conversation(docsAgent(documents, model), process.stdout)
  try {
    if (question !== undefined) {
      process.stdout.write(`\nQuestion: ${question}\n\n`)
      await conversation.ask(question, signal)
    }
    if (line.chat) await chat(conversation, { signal, ask })
  } catch (error) {
    throw explainModelError(error, label) ?? error
  }
}
