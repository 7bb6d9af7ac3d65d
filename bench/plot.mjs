// Plots as SVG: bars and lines on a logarithmic scale, for light and dark pages.

const width = 720
const left = 150
const right = 20
const colours = [
  '#888888',
  '#d6336c',
  '#f08fb0',
  '#1971c2',
  '#4dabf7',
  '#74c0fc',
  '#2f9e44',
  '#f08c00',
  '#7048e8',
  '#0ca678',
]

const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const page = (title, height, body) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:12px system-ui,sans-serif;fill:#868e96}.title{font-size:15px;font-weight:600}.grid{stroke:#868e96;stroke-opacity:.25}polyline{fill:none;stroke-width:2}</style>
${textAt(title, { x: 10, y: 22, class: 'title' })}
${body.join('\n')}
</svg>
`

const textAt = (text, attributes) => `<text ${attributesOf(attributes)}>${escaped(text)}</text>`

const lineAt = attributes => `<line ${attributesOf({ class: 'grid', ...attributes })}/>`

const attributesOf = attributes =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${typeof value === 'number' ? Number(value.toFixed(1)) : value}"`)
    .join(' ')

const shown = value => (value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2))))

/** From values to pixels, between the powers of ten around them. */
function logarithmic(values, [from, to]) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const at = value => from + ((Math.log10(value) - low) / (high - low)) * (to - from)
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
  return { at, ticks }
}

/** One bar for each `{ name, value, colour }`. */
export function bars({ title, unit, entries }) {
  const positive = entries.filter(entry => entry.value > 0)
  const bottom = 40 + positive.length * 24
  const scale = logarithmic(
    positive.map(entry => entry.value),
    [left, width - right - 60],
  )
  const grid = scale.ticks.flatMap(tick => [
    lineAt({ x1: scale.at(tick), x2: scale.at(tick), y1: 36, y2: bottom }),
    textAt(shown(tick), { x: scale.at(tick), y: bottom + 16, 'text-anchor': 'middle' }),
  ])
  const drawn = positive.flatMap(({ name, value, colour }, index) => {
    const y = 40 + index * 24
    const end = Math.max(scale.at(value), left + 1)
    return [
      textAt(name, { x: left - 8, y: y + 13, 'text-anchor': 'end' }),
      `<rect ${attributesOf({ x: left, y, width: end - left, height: 18, fill: colour })}/>`,
      textAt(shown(value), { x: end + 5, y: y + 13 }),
    ]
  })
  return page(`${title} (${unit}, logarithmic)`, bottom + 28, [...grid, ...drawn])
}

/** One line for each `{ name, values, colour }`: a value, or none, at each of `places`. */
export function lines({ title, unit, places, entries }) {
  const top = 44
  const bottom = 320
  const scale = logarithmic(
    entries.flatMap(entry => entry.values.filter(value => value > 0)),
    [bottom, top],
  )
  const x = index => 80 + (index / (places.length - 1)) * (width - 80 - 150)
  const grid = scale.ticks.flatMap(tick => [
    lineAt({ x1: 80, x2: x(places.length - 1), y1: scale.at(tick), y2: scale.at(tick) }),
    textAt(shown(tick), { x: 72, y: scale.at(tick) + 4, 'text-anchor': 'end' }),
  ])
  const below = places.map((place, index) => textAt(place, { x: x(index), y: bottom + 20, 'text-anchor': 'middle' }))
  const drawn = entries.map(({ values, colour }) => {
    const points = values.flatMap((value, index) =>
      value > 0 ? [`${x(index).toFixed(1)},${scale.at(value).toFixed(1)}`] : [],
    )
    return `<polyline points="${points.join(' ')}" stroke="${colour}"/>`
  })
  return page(`${title} (${unit}, logarithmic)`, bottom + 34, [
    ...grid,
    ...below,
    ...drawn,
    ...namesOf(entries, scale, x(places.length - 1)),
  ])
}

/** The names at the ends of the lines, moved apart where lines end close together. */
function namesOf(entries, scale, x) {
  const ends = entries
    .map(({ name, values, colour }) => ({ name, colour, y: scale.at(values.findLast(value => value > 0)) }))
    .toSorted((one, other) => one.y - other.y)
  let last = Number.NEGATIVE_INFINITY
  return ends.map(({ name, colour, y }) => {
    last = Math.max(y, last + 14)
    return `<text ${attributesOf({ x: x + 8, y: last + 4, style: `fill:${colour}` })}>${escaped(name)}</text>`
  })
}

/** The colour of the contestant at a place of the table. */
export const colourAt = index => colours[index % colours.length]
