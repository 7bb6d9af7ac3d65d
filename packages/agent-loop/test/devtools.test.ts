import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

interface ShownRun {
  readonly id: string
  readonly function_id: string | null
  readonly parent_run_id: string | null
  readonly parent_step_id: string | null
}

interface ShownStep {
  readonly id: string
  readonly run_id: string
  readonly step_number: number
  readonly model_id: string
  readonly duration_ms: number | null
  readonly input: string
  readonly output: string | null
  readonly error: string | null
}

const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** What the developer tools have on disk after the program. */
async function shown(): Promise<{ readonly runs: readonly ShownRun[]; readonly steps: readonly ShownStep[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'devtools-'))
  try {
    const program = join(import.meta.dirname, 'devtools-process.ts')
    await promisify(execFile)(process.execPath, [...conditions, '--no-warnings', program, folder])
    return JSON.parse(await readFile(join(folder, '.devtools/generations.json'), 'utf8')) as never
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

it('the developer tools show a run with its steps, and in them nested calls and what processors did', async () => {
  const { runs, steps } = await shown()
  const below = (run: ShownRun, indent: string): readonly string[] =>
    steps
      .filter(step => step.run_id === run.id)
      .flatMap(step => [
        `${indent}step ${step.step_number} ${step.model_id}${step.error === null ? '' : `: ${step.error}`}`,
        ...runs.filter(other => other.parent_step_id === step.id).flatMap(child => linesOf(child, `${indent}  `)),
      ])
  const linesOf = (run: ShownRun, indent = ''): readonly string[] => [
    `${indent}run ${run.function_id ?? ''}`.trimEnd(),
    ...below(run, `${indent}  `),
  ]
  const roots = runs.filter(run => run.parent_run_id === null)
  expect(roots.flatMap(root => linesOf(root)).join('\n')).toBe(
    `
run helper
  step 1 scripted
    run
      step 1 inner
    run guard.processToolResult
      step 1 guard.processToolResult
  step 2 scripted
    run guard.processOutputStep
      step 1 guard.processOutputStep: asked for a retry: "be kind"
run
  step 1 scripted: down`.trim(),
  )
  expect(steps.filter(step => step.duration_ms === null)).toEqual([])
  const second = steps.find(step => step.model_id === 'scripted' && step.step_number === 2)!
  expect(second.input).toContain('It is sunny.')
  expect(JSON.parse(second.output!)).toMatchObject({ content: [{ text: 'Yes.' }], finishReason: 'stop' })
})
