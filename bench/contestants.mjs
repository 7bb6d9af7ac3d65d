// Who takes part: a folder for each package, with what it installs, and in it a file for each way to use the package.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, 'contestants')

/** By title, in the order of the table. */
const files = {
  'bare loop': 'floor/floor',
  Lockstep: 'lockstep/lockstep',
  runLoop: 'lockstep/lockstep-loop',
  streamText: 'ai/stream-text',
  generateText: 'ai/generate-text',
  ToolLoopAgent: 'ai/tool-loop-agent',
  Mastra: 'mastra/mastra',
  'OpenAI Agents': 'openai-agents/openai-agents',
  pi: 'pi/pi',
  LangChain: 'langchain/langchain',
}

export const contestants = Object.entries(files).map(([title, path]) => {
  const [home, name] = path.split('/')
  return { title, name, home: join(folder, home), file: join(folder, `${path}.mjs`) }
})

export function contestantNamed(name) {
  const found = contestants.find(contestant => contestant.name === name)
  if (found) return found
  const names = contestants.map(contestant => contestant.name).join(', ')
  throw new Error(`There is no contestant '${name}'. The contestants are: ${names}.`)
}

/** The folders with something to install. */
export const installedFolders = readdirSync(folder)
  .filter(name => !name.startsWith('.'))
  .map(name => join(folder, name))
  .filter(home => existsSync(join(home, 'package.json')))
