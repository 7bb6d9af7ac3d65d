// The command as a person runs it: its own process, its own standard streams.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

export type Finished = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** Runs the command on the same day every time, with this typed at its prompt. */
export function run(args: readonly string[], typed = ''): Promise<Finished> {
  const child = spawn(process.execPath, [...conditions, main, '--today', '2026-11-21', ...args])
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', data => (stdout += String(data)))
  child.stderr.on('data', data => (stderr += String(data)))
  child.stdin.end(typed)
  return new Promise(resolve => child.on('close', code => resolve({ code, stdout, stderr })))
}
