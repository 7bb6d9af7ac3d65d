// The AI SDK's loop without streaming: `generateText`.
import { generateText } from 'ai'
import { messagesOf, settingsOf } from './settings.mjs'

export const lacks = {
  streaming: 'does not stream',
  list: 'see streamText',
  installation: 'see streamText',
}

export const notes = { readers: 'five readers in one prepareStep' }

export const streams = false

export const prepare = messagesOf

export async function run(work, messages, seen) {
  const result = await generateText({ ...settingsOf(work, seen), messages })
  seen.text(result.text)
  return result
}
