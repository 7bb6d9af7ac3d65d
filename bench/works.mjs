// The works: what every contestant has to do, and what is measured of it.

const nothing = { needs: [], steps: 0, deltas: 1, history: 0, processors: 0, readers: 0, outputLength: 1 }

const steps = count => ({ ...nothing, measure: 'time', metrics: { time: 'µs a step' }, units: count, steps: count })

const after = history => ({
  ...steps(20),
  measure: 'stages',
  metrics: { step: 'µs a step', entry: 'ms to the first tool' },
  history,
})

const chunks = (processors, more) => ({
  ...nothing,
  measure: 'time',
  metrics: { time: 'µs a chunk' },
  needs: processors > 0 ? ['streaming', 'processors'] : ['streaming'],
  units: 20_000,
  deltas: 20_000,
  processors,
  ...more,
})

const list = (operation, count) => ({
  ...nothing,
  measure: 'list',
  metrics: { time: 'ms' },
  needs: ['list', operation],
  operation,
  count,
})

const allocation = unit => ({
  measure: 'allocation',
  metrics: { bytes: `bytes a ${unit}`, promises: `promises a ${unit}` },
})

const heap = { measure: 'heap', metrics: { kept: 'KB kept' } }

/**
 * A work by its name. `steps` tool calls, then an answer in `deltas` pieces; `history` messages before it; `processors` that
 * pass every chunk on; `readers` that read all messages before each step.
 */
export const works = {
  'steps-1': steps(1),
  'steps-50': steps(50),
  'steps-200': steps(200),
  'after-0': after(0),
  'after-1000': after(1_000),
  'after-4000': after(4_000),
  'after-20000': after(20_000),
  'chunks-0': chunks(0),
  'chunks-1': chunks(1),
  'chunks-5': chunks(5),
  'chunks-10': chunks(10),
  'chunks-1-async': chunks(1, { async: true }),
  'chunks-5-async': chunks(5, { async: true }),
  'chunks-10-async': chunks(10, { async: true }),
  'readers-5': { ...after(1_000), metrics: { step: 'µs a step' }, needs: ['readers'], readers: 5 },
  'load-8000': list('load', 8_000),
  'add-8000': list('add', 8_000),
  'prompt-10000': list('prompt', 10_000),
  'heap-steps-400': { ...steps(400), ...heap, outputLength: 1_000 },
  'heap-chunks-0': { ...chunks(0), ...heap },
  'heap-chunks-5': { ...chunks(5), ...heap },
  'heap-chunks-5-few': { ...chunks(5, { units: 2_000, deltas: 2_000 }), ...heap },
  'allocated-steps-200': { ...steps(200), ...allocation('step') },
  'allocated-chunks-20000': { ...chunks(0), ...allocation('chunk') },
  'concurrent-1000': {
    ...nothing,
    measure: 'concurrency',
    metrics: { time: 'µs a chunk', gap: 'ms between two chunks, p99' },
    needs: ['streaming'],
    streams: 1_000,
    deltas: 50,
    paced: true,
  },
  install: {
    ...nothing,
    measure: 'installation',
    metrics: {
      packages: 'packages',
      size: 'MB',
      tarballs: 'MB of tarballs',
      import: 'ms to import',
      first: 'ms to the first answer',
    },
    needs: ['installation'],
  },
}

/** The works that are meant by some names or beginnings of names. Throws on a name that means none. */
export function worksNamed(names) {
  if (names.length === 0) return Object.keys(works)
  return names.flatMap(name => {
    const meant = name in works ? [name] : Object.keys(works).filter(work => work.startsWith(`${name}-`))
    if (meant.length === 0)
      throw new Error(`There is no work '${name}'. The works are: ${Object.keys(works).join(', ')}.`)
    return meant
  })
}
