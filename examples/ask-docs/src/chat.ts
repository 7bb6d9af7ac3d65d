// The prompt: one line is one question, an empty line ends.
import { createInterface } from 'node:readline'
import type { Conversation } from './conversation.ts'

type ChatStart = {
  readonly signal: AbortSignal
  /** What to ask first, when nothing has been asked yet. */
  readonly ask: string | undefined
}

/** Asks for questions until there are no more. Ctrl-C at the prompt is the process's own. */
export async function chat(conversation: Conversation, { signal, ask }: ChatStart): Promise<void> {
  if (ask !== undefined) process.stdout.write(`\n${ask}\n`)
  const prompt = createInterface({ input: process.stdin, output: process.stdout, prompt: '\nYou: ', signal })
  prompt.on('SIGINT', () => process.emit('SIGINT'))
  prompt.prompt()
  for await (const question of prompt) {
    if (question.trim() === '') break
    if (!process.stdin.isTTY) process.stdout.write(`${question}\n`)
    process.stdout.write('\n')
    await conversation.ask(question, signal)
    prompt.prompt()
  }
  prompt.close()
  signal.throwIfAborted()
}
