import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** What the README says that a recipe prints: the text fence after the link to it. */
const promised = (name: string): string | undefined =>
  new RegExp(`\\]\\(src/${name}\\)[^#]*?\`\`\`text\\n([^]*?)\\n\`\`\``).exec(readme)?.[1]

const recipes = readdirSync(join(folder, 'src'))

describe('the recipes', () => {
  it.each(recipes)('%s prints what the README says, in at most 60 lines', async name => {
    const file = join(folder, 'src', name)
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1' } }
    const { stdout } = await promisify(execFile)(process.execPath, [...conditions, '--no-warnings', file], options)
    expect(stdout.trimEnd()).toBe(promised(name))
    expect(readFileSync(file, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60)
  })

  it('are all in the README', () => {
    const named = [...readme.matchAll(/\]\(src\/([\w-]+\.ts)\)/g)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(recipes))
    expect(named).toHaveLength(recipes.length)
  })
})
