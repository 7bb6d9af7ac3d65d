// The table of conformance: every test that it cites is there, and it has as many rows of each kind as it says.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { read, root } from '../repository.ts'

const table = read('docs/conformance.md')

interface Row {
  readonly number: string
  readonly proof: string
}

/** A row begins with its number. No cell has a `|` in it. */
const rows: readonly Row[] = table.split('\n').flatMap(line => {
  const [, number, , , proof, ...rest] = line.split('|').map(cell => cell.trim())
  return number !== undefined && /^[PIBRL]\d+$/.test(number) ? [{ number, proof: rest.length === 1 ? proof! : '' }] : []
})

interface Citation {
  readonly number: string
  readonly file: string
  readonly title: string
}

const citation = /^(?<file>\S+\.(?:test|test-d)\.ts): (?<title>.+)$/
const open = /^\*\*open\*\*(: .+)?$/
const departure = /^departure: .+$/

const linesOf = ({ proof }: Row): readonly string[] => proof.split('<br>')
const citations: readonly Citation[] = rows.flatMap(row =>
  linesOf(row).flatMap(line => {
    const groups = citation.exec(line)?.groups
    return groups ? [{ number: row.number, file: groups['file']!, title: groups['title']! }] : []
  }),
)

/** A row is one thing: open alone, a departure with or without tests, or tests. */
function kindOf(row: Row): 'proved' | 'departure' | 'open' | undefined {
  const [first = '', ...rest] = linesOf(row)
  if (open.test(first)) return rest.length === 0 ? 'open' : undefined
  if (!rest.every(line => citation.test(line))) return undefined
  if (departure.test(first)) return 'departure'
  return citation.test(first) ? 'proved' : undefined
}

/** The titles of a file's tests as they are written, those of `it.each` with their `%s` and `$name`. */
function titlesOf(file: string): ReadonlySet<string> {
  const source = read(file)
  const titles = new Set<string>()
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (title === undefined || !/^(it|test)\b/.test(source.slice(callee.start, callee.end))) return
      if (title.type === 'Literal' && typeof title.value === 'string') titles.add(title.value)
      if (title.type === 'TemplateLiteral') titles.add(source.slice(title.start + 1, title.end - 1))
    },
  }).visit(parseSync(file, source).program)
  return titles
}

const titles = new Map<string, ReadonlySet<string>>()

/** What only the compiler checks has no titles: there the words are those of the assertion. */
function isThere({ file, title }: Citation): boolean {
  if (!existsSync(join(root, file))) return false
  if (file.endsWith('.test-d.ts')) return read(file).includes(title)
  if (!titles.has(file)) titles.set(file, titlesOf(file))
  return titles.get(file)!.has(title)
}

describe('the table of conformance', () => {
  it('numbers its rows in order', () => {
    const counts = new Map<string, number>()
    const expected = rows.map(({ number: [letter = ''] }) => {
      counts.set(letter, (counts.get(letter) ?? 0) + 1)
      return `${letter}${counts.get(letter)}`
    })
    expect(rows.map(({ number }) => number)).toEqual(expected)
    expect([...counts.keys()]).toEqual(['P', 'I', 'B', 'R', 'L'])
  })

  it('has in each row a proof, a departure with its reason, or the word open', () => {
    expect(rows.filter(row => kindOf(row) === undefined)).toEqual([])
  })

  it('cites only tests that are there', () => {
    expect(citations.filter(one => !isThere(one))).toEqual([])
  })

  it('counts its rows right', () => {
    const count = (kind: string) => rows.filter(row => kindOf(row) === kind).length
    expect(table).toContain(`Proved: ${count('proved')} · Departures: ${count('departure')} · Open: ${count('open')}\n`)
  })
})
