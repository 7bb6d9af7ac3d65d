import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MessageListError } from '@lockstep/message-list'
import { errorOf } from './reading.ts'
import { newList } from './arbitraries.ts'

const contentOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

it('an error is known by its marker, also from another copy of the package', () => {
  const error = errorOf(() => newList().update('gone', () => {}))
  expect([error instanceof Error, error.name, MessageListError.isInstance(error)]).toEqual([
    true,
    'MessageListError',
    true,
  ])
  expect(MessageListError.isInstance({ [Symbol.for('lockstep.message-list.error')]: true })).toBe(true)
  for (const other of [new Error('x'), null, 'x', {}]) expect(MessageListError.isInstance(other)).toBe(false)
})

it('every code is in the table of the README', () => {
  const codes = [...contentOf('../src/errors.ts').matchAll(/^ {2}\| '([a-z-]+)'$/gm)].map(([, code]) => code)
  const listed = [...contentOf('../README.md').matchAll(/^\| `([a-z-]+)` \| .* \| .* \|$/gm)].map(([, code]) => code)
  expect(listed).toEqual(codes)
})
