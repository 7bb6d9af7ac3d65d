// The comparison as a Markdown table: a row for each work and number, a column for each contestant, reasons below.
import { median } from './rounds.mjs'

const grouped = (rows, keyOf) => {
  const groups = new Map()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return [...groups.values()]
}

/** Three significant digits, and no more than the number has. */
export const rounded = value =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))

const shortened = ratio => String(ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2)))

/** Each cell is a median; in brackets, how many times Lockstep's of the same round it is, the median of that. */
export function tableOf({ rows, titles }) {
  const reasons = []
  const mark = text => {
    if (!reasons.includes(text)) reasons.push(text)
    return `[${reasons.indexOf(text) + 1}]`
  }
  const names = [...new Set(rows.map(row => row.contestant))]
  const lines = grouped(rows, row => `${row.work} ${row.metric}`).map(group => {
    const own = group.find(row => row.contestant === 'lockstep')?.values
    const cells = names.map(name =>
      cellOf(
        group.find(row => row.contestant === name),
        own,
        mark,
      ),
    )
    return `| ${group[0].work} | ${group[0].unit} | ${cells.join(' | ')} |`
  })
  return [
    `| work | | ${names.map(name => titles[name]).join(' | ')} |`,
    `|---|---|${names.map(() => '--:|').join('')}`,
    ...lines,
    '',
    ...reasons.map((reason, index) => `${index + 1}. ${reason}`),
  ].join('\n')
}

function cellOf(row, own, mark) {
  if (row.lack) return `– ${mark(row.lack)}`
  const ratio =
    row.contestant === 'lockstep' || !own ? Number.NaN : median(row.values.map((value, at) => value / own[at]))
  return `${rounded(row.value)}${ratio > 0 ? ` (${shortened(ratio)})` : ''}${row.note ? ` ${mark(row.note)}` : ''}`
}
