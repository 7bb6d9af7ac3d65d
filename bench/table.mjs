// The comparison as a Markdown table: a row for each work and number, a column for each contestant, reasons below.

const grouped = (rows, keyOf) => {
  const groups = new Map()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return [...groups.values()]
}

/** Three significant digits, and no more than the number has. */
export const rounded = value =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))

const shortened = ratio => String(ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2)))

/** Each cell is a median; in brackets, how many times Lockstep's it is. */
export function tableOf({ rows, titles }) {
  const reasons = []
  const mark = text => {
    if (!reasons.includes(text)) reasons.push(text)
    return `[${reasons.indexOf(text) + 1}]`
  }
  const names = [...new Set(rows.map(row => row.contestant))]
  const lines = grouped(rows, row => `${row.work} ${row.metric}`).map(group => {
    const own = group.find(row => row.contestant === 'lockstep')?.value
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
  const comparable = own > 0 && row.value > 0 && row.contestant !== 'lockstep'
  const ratio = comparable ? ` (${shortened(row.value / own)})` : ''
  return `${rounded(row.value)}${ratio}${row.note ? ` ${mark(row.note)}` : ''}`
}
