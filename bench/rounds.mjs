// Repeats in one process: some to warm up, then those that count.

/** Runs `once` some times, fewer when it is slow, and gives the median of each number that it tells. */
export async function medianOf(once, rounds) {
  await repeat(once, { most: 3, milliseconds: 1_000 })
  const results = await repeat(once, { most: rounds, milliseconds: 3_000 })
  return Object.fromEntries(Object.keys(results[0]).map(key => [key, median(results.map(result => result[key]))]))
}

async function repeat(once, { most, milliseconds }) {
  const results = []
  const start = performance.now()
  while (results.length === 0 || (results.length < most && performance.now() - start < milliseconds))
    results.push(await once())
  return results
}

export const median = numbers => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]
