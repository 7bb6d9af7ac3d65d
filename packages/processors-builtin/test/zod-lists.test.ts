// The lists that zod's own tests are made of: what other people hold for an e-mail address, a card, an account number.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { redactor, type SensitiveKind } from '@lockstep/processors-builtin/redactor'
import { position, runOf } from './redactor-run.ts'

const zod = join(dirname(createRequire(import.meta.url).resolve('zod/package.json')), 'src/v4')

/** An array of strings, or of pairs that end in one, out of a source file. */
function listIn(file: string, name: string): readonly string[] {
  const source = readFileSync(join(zod, file), 'utf8')
  const found = new RegExp(`const ${name}(?:: [^=]+)? = (\\[[^]*?\\n {2}\\]);`).exec(source)
  if (!found) throw new Error(`There is no list ${name} in ${file} of this version of zod.`)
  const literal = found[1]!.replace(/^\s*\/\/.*$/gm, '')
  const list = [...literal.matchAll(/"((?:[^"\\]|\\.)*)"\s*\]?,?\s*(?:\/\/.*)?$|`([^`]*)`,/gm)]
  return list.map(match => match[1] ?? match[2]!)
}

/** The texts of which something else is left than the name of the kind. */
async function notFound(kind: SensitiveKind, texts: readonly string[]): Promise<readonly string[]> {
  const { runner } = runOf(redactor({ kinds: [kind] }))
  const { output } = await runner.runProcessToolResult({
    position,
    toolCall: { toolCallId: 'c', toolName: 'read', input: {} },
    outcome: { output: texts.map(text => `it is ${text} now`) },
  })
  return texts.filter((_text, index) => (output as readonly string[])[index] !== `it is [redacted ${kind}] now`)
}

describe('the lists of zod', () => {
  it('of e-mail addresses: all are found', async () => {
    const emails = listIn('classic/tests/string.test.ts', 'validEmails')
    expect(emails.length).toBeGreaterThan(20)
    expect(await notFound('email', emails)).toEqual([])
  })

  it('of cards: all are found', async () => {
    const cards = listIn('classic/tests/credit-card.test.ts', 'valid')
    expect(cards.length).toBeGreaterThan(10)
    expect(await notFound('card', cards)).toEqual([])
  })

  it('of account numbers: all are found, and none with check digits that cannot be', async () => {
    const numbers = listIn('classic/tests/iban.test.ts', 'valid')
    expect(numbers.length).toBeGreaterThan(9)
    expect(await notFound('iban', numbers)).toEqual([])
    const wrong = ['DE00000000000000000066', 'DE01000000000000000048', 'DE99000000000000000030', 'NO9386011117948']
    expect(await notFound('iban', wrong)).toEqual(wrong)
  })

  it('of telephone numbers: all are found', async () => {
    const numbers = listIn('classic/tests/string.test.ts', 'validE164Numbers')
    expect(numbers.length).toBeGreaterThan(9)
    expect(await notFound('phone', numbers)).toEqual([])
  })
})
