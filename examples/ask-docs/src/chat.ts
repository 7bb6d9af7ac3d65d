// The prompt: one line is one question, an empty line ends.
import { createInterface } from 'node:readline'
import type { Conversation } from './conversation.ts'

/** Asks for questions until there are no more. Ctrl-C at the prompt is the process's own. */
export async function chat(conversation: Conversation, signal: AbortSignal): Promise<void> {
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
