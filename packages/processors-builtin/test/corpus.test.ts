import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countrySpecs, isValidIBAN } from 'ibantools'
import { describe, expect, it } from 'vitest'
import { allFakers, type Faker } from '@faker-js/faker'
import { redactor } from '@lockstep/processors-builtin/redactor'
import { corpus, type Sentence } from './corpus.ts'
import { position, runOf } from './redactor-run.ts'

const countPerRule = 100
const marks = { kinds: { url: 'redact' }, replacement: (kind: string) => `⟦${kind}⟧` } as const

interface Row {
  readonly kind: string
  found: number
  of: number
  falseAlarms: number
}

/** What is found exactly, from its first to its last character, and what is found where nothing of the kind is. */
async function measured(sentences: readonly Sentence[]): Promise<readonly Row[]> {
  const { runner } = runOf(redactor(marks))
  const rows = new Map<string, Row>()
  const rowOf = (kind: string) => {
    const row = rows.get(kind) ?? { kind, found: 0, of: 0, falseAlarms: 0 }
    rows.set(kind, row)
    return row
  }
  const { output } = await runner.runProcessToolResult({
    position,
    toolCall: { toolCallId: 'c', toolName: 'read', input: {} },
    outcome: { output: sentences.map(({ before, value, after }) => before + value + after) },
  })
  for (const [index, shown] of (output as readonly string[]).entries()) {
    const { kind, before, after } = sentences[index]!
    const kinds = [...shown.matchAll(/⟦([a-z-]+)⟧/g)].map(found => found[1]!)
    if (kind !== undefined) rowOf(kind).of++
    if (kind !== undefined && shown === `${before}⟦${kind}⟧${after}`) rowOf(kind).found++
    for (const found of kinds) if (found !== kind) rowOf(found).falseAlarms++
  }
  return [...rows.values()]
}

const number = (count: number) => count.toLocaleString('en')

describe('the labelled corpus', () => {
  const sentences = corpus(countPerRule)

  it('is found as the README says', async () => {
    const table = (await measured(sentences)).map(
      ({ kind, found, of, falseAlarms }) =>
        `| \`${kind}\` | ${number(found)} of ${number(of)} | ${number(falseAlarms)} |`,
    )
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
    expect(table.filter(row => !readme.includes(row))).toEqual([])
    expect(readme).toContain(`${number(sentences.length)} sentences`)
  })
})

describe('account numbers', () => {
  it('are those that the registry of all countries accepts', async () => {
    const faker = allFakers.en
    faker.seed(7)
    const countries = Object.keys(countrySpecs).filter(country => countrySpecs[country]!.IBANRegistry)
    const numbers = countries
      .flatMap(countryCode => Array.from({ length: 5 }, () => ibanOf(faker, countryCode) ?? []).flat())
      .filter(text => isValidIBAN(text))
    expect(new Set(numbers.map(text => text.slice(0, 2))).size).toBeGreaterThan(45)
    const { runner } = runOf(redactor(marks))
    const { output } = await runner.runProcessToolResult({
      position,
      toolCall: { toolCallId: 'c', toolName: 'read', input: {} },
      outcome: { output: numbers.flatMap(text => [text, text.replace(/.{4}/g, '$& ').trim()]) },
    })
    expect(new Set(output as readonly string[])).toEqual(new Set(['⟦iban⟧']))
  })
})

/** Not every country is known to both. */
function ibanOf(faker: Faker, countryCode: string): string | undefined {
  try {
    return faker.finance.iban({ countryCode })
  } catch {
    return undefined
  }
}
