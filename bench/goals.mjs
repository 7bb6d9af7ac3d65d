// What Lockstep wants to be, and whether a comparison says that it is.
import { median } from './rounds.mjs'
import { rounded } from './table.mjs'

/** Each goal: what is computed from the numbers of a comparison, and the most or the least that it may be. */
const goals = [
  {
    what: 'a step of 200 above the bare loop',
    unit: 'µs',
    most: 30,
    of: at => at('lockstep', 'steps-200') - at('floor', 'steps-200'),
  },
  timesFaster('a step of 200 than streamText', 10, ['stream-text', 'steps-200']),
  timesFaster('a step of 200 than generateText', 3, ['generate-text', 'steps-200']),
  timesFaster('a step of 200 than Mastra', 80, ['mastra', 'steps-200']),
  { what: 'a chunk', unit: 'µs', most: 1, of: at => at('lockstep', 'chunks-0') },
  { what: 'a chunk through 5 processors', unit: 'µs', most: 2, of: at => at('lockstep', 'chunks-5') },
  timesFaster('a chunk than streamText', 10, ['stream-text', 'chunks-0']),
  timesFaster('a chunk than Mastra', 10, ['mastra', 'chunks-0']),
  timesFaster('a chunk through 5 processors than streamText', 10, ['stream-text', 'chunks-5']),
  timesFaster('a chunk through 5 processors than Mastra', 10, ['mastra', 'chunks-5']),
  {
    what: 'a chunk through 10 processors by one through none',
    unit: '×',
    most: 1.3,
    of: at => at('lockstep', 'chunks-10') / at('lockstep', 'chunks-0'),
  },
  {
    what: 'a step after 20,000 messages by one after none',
    unit: '×',
    most: 1.3,
    of: at => at('lockstep', 'after-20000', 'step') / at('lockstep', 'after-0', 'step'),
  },
  { what: 'kept after 400 steps', unit: 'KB', most: 4096, of: at => at('lockstep', 'heap-steps-400', 'kept') },
  {
    what: 'kept of each chunk through 5 processors, its text aside',
    unit: 'bytes',
    most: 4,
    of: at => ((at('lockstep', 'heap-chunks-5', 'kept') - at('lockstep', 'heap-chunks-5-few', 'kept')) * 1024) / 18_000,
  },
  { what: 'packages more than `ai` and `zod`', unit: '', most: 8, of: moreThanTheSdk('packages') },
  { what: 'installed more than `ai` and `zod`', unit: 'MB', most: 1, of: moreThanTheSdk('size') },
  {
    what: 'import by that of `ai`',
    unit: '×',
    most: 1,
    of: at => at('lockstep', 'install', 'import') / at('stream-text', 'install', 'import'),
  },
]

function timesFaster(what, least, [contestant, work]) {
  return { what: `faster: ${what}`, unit: '×', least, of: at => at(contestant, work) / at('lockstep', work) }
}

function moreThanTheSdk(metric) {
  return at => at('lockstep', 'install', metric) - at('stream-text', 'install', metric)
}

/** The goals as a Markdown table: the median of what the rounds say. A goal whose numbers were not measured is not in it. */
export function goalsOf({ rows }) {
  const valuesOf = (contestant, work, metric) =>
    rows.find(row => row.contestant === contestant && row.work === work && row.metric === metric)?.values
  const inRound =
    round =>
    (contestant, work, metric = 'time') =>
      valuesOf(contestant, work, metric)?.[round] ?? Number.NaN
  const rounds = Math.max(...rows.map(row => row.values?.length ?? 0))
  const lines = goals
    .map(goal => ({ ...goal, value: median(Array.from({ length: rounds }, (_, round) => goal.of(inRound(round)))) }))
    .filter(goal => !Number.isNaN(goal.value))
    .map(({ what, unit, most, least, value }) => {
      const met = least === undefined ? value <= most : value >= least
      const limit = least === undefined ? `at most ${rounded(most)}` : `at least ${rounded(least)}`
      return `| ${what} | ${limit} ${unit} | ${rounded(value)} ${unit} | ${met ? 'yes' : '**no**'} |`
    })
  return ['| goal | | measured | met |', '|---|---|--:|---|', ...lines].join('\n')
}
