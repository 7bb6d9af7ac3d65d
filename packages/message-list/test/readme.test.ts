import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { expect, it } from 'vitest'
import * as messageList from '@lockstep/message-list'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** The examples: each fence of code, and what the fence after it says that it prints. */
const examples = [...readme.matchAll(/```ts\n(.*?)```\n+(?:```text\n(.*?)```)?/gs)].map(([, code, printed]) => ({
  code: code!,
  printed,
}))

/** Runs an example and returns what it printed. */
const run = async (code: string): Promise<string> => {
  const lines: string[] = []
  const body = stripTypeScriptTypes(code).replaceAll(
    /^import \{(.*?)\} from '@lockstep\/message-list'$/gm,
    'const {$1} = messageList',
  )
  const AsyncFunction = (async () => {}).constructor as new (
    ...names: string[]
  ) => (...values: unknown[]) => Promise<void>
  await new AsyncFunction('messageList', 'console', body)(messageList, {
    log: (...values: unknown[]) => lines.push(values.join(' ')),
  })
  return lines.map(line => `${line}\n`).join('')
}

it.each(examples)('prints what the README says: %#', async ({ code, printed }) => {
  expect(await run(code)).toBe(printed)
})

it('has an example in each place where the README shows one', () => {
  expect(examples).toHaveLength(5)
})

it('lists every error code', () => {
  const source = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8')
  const codes = [...source.matchAll(/^ {2}\| '([a-z-]+)'$/gm)].map(([, code]) => code)
  const listed = [...readme.matchAll(/^\| `([a-z-]+)` \| .* \| .* \|$/gm)].map(([, code]) => code)
  expect(listed).toEqual(codes)
})
