// The command as a person runs it: its own process, its own standard streams.
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'

export type Finished = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type Command = { readonly process: ChildProcess; readonly finished: Promise<Finished> }

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']
const modelVariables = ['LOCKSTEP_MODEL', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY']

type Environment = Readonly<Record<string, string>>

/** Starts the command with these arguments and no other model variables than those given. */
export function start(args: readonly string[], environment: Environment = {}, cwd = process.cwd()): Command {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !modelVariables.includes(name)))
  const child = spawn(process.execPath, [...conditions, main, ...args], { cwd, env: { ...inherited, ...environment } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', data => (stdout += String(data)))
  child.stderr.on('data', data => (stderr += String(data)))
  const finished = new Promise<Finished>(resolve => child.on('close', code => resolve({ code, stdout, stderr })))
  return { process: child, finished }
}

/** Runs the command to its end. */
export const run = (args: readonly string[], environment?: Environment, cwd?: string): Promise<Finished> =>
  start(args, environment, cwd).finished
