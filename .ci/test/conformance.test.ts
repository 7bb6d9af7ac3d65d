// What the table of conformance cites exists: every file, every test, and as many rows as it says.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { read, root } from '../repository.ts'

const table = read('docs/conformance.md')

interface Row {
  readonly subject: string
  readonly proof: string
}

const rows: readonly Row[] = table.split('\n').flatMap(line => {
  const cells = line.split('|').map(cell => cell.trim())
  const isRow = cells.length === 5 && cells[1] !== 'subject' && !/^-+$/.test(cells[1] ?? '')
  return isRow ? [{ subject: cells[1]!, proof: cells[3]! }] : []
})

/** `package/file` is a test file of that package, and the words in quotes behind it a test in it. */
const citation = /`([a-z-]+)\/([a-z/-]+)(\.test-d)?`(?: "([^"]+)")?/g

const citations = rows.flatMap(({ subject, proof }) =>
  [...proof.matchAll(citation)].map(([, name, file, types, title]) => ({
    subject,
    file: `packages/${name}/test/${file}${types ?? '.test'}.ts`,
    title,
  })),
)

/** The titles of a file's tests, as they are written. */
function titlesOf(file: string): ReadonlySet<string> {
  const source = read(file)
  const titles = new Set<string>()
  const { program } = parseSync(file, source)
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const isTest = /^(it|test)\b/.test(source.slice(callee.start, callee.end))
      if (!isTest || title === undefined) return
      if (title.type === 'Literal' && typeof title.value === 'string') titles.add(title.value)
      if (title.type === 'TemplateLiteral') titles.add(source.slice(title.start + 1, title.end - 1))
    },
  }).visit(program)
  return titles
}

const kinds = { Proved: /^`/, Departed: /^departs: /, Open: /^\*\*open\*\*/ }

describe('the table of conformance', () => {
  it('says of each row that it is proved, departed from with a reason, or open', () => {
    const unclear = rows.filter(({ proof }) => !Object.values(kinds).some(kind => kind.test(proof)))
    expect(unclear).toEqual([])
  })

  it.each(Object.entries(kinds))('counts its rows: %s', (kind, pattern) => {
    const count = rows.filter(({ proof }) => pattern.test(proof)).length
    expect(table).toContain(`${kind}: ${count}`)
  })

  it('cites only tests that are there', () => {
    const files = new Map(
      [...new Set(citations.map(({ file }) => file))].map(file => [
        file,
        existsSync(join(root, file)) ? titlesOf(file) : undefined,
      ]),
    )
    const missing = citations.filter(({ file, title }) => {
      const titles = files.get(file)
      return titles === undefined || (title !== undefined && !titles.has(title))
    })
    expect(missing).toEqual([])
    expect(citations.length).toBeGreaterThan(rows.length / 2)
  })
})
