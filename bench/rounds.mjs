// Repeats in one process: some to warm up, then those that count.

/** How long a contestant has to warm up and then to be measured, in milliseconds: the same time for all, not the same count. */
export const windows = { whole: { warmUpMs: 700, measureMs: 1_000 }, quick: { warmUpMs: 100, measureMs: 200 } }

/** Runs `once` for as long as the windows say, once in each at least, and gives the median of each number that it tells. */
export async function medianOf(once, { warmUpMs, measureMs }) {
  await repeat(once, warmUpMs)
  const results = await repeat(once, measureMs)
  return Object.fromEntries(Object.keys(results[0]).map(key => [key, median(results.map(result => result[key]))]))
}

async function repeat(once, milliseconds) {
  const results = []
  const start = performance.now()
  while (results.length === 0 || performance.now() - start < milliseconds) results.push(await once())
  return results
}

export const median = numbers => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]
