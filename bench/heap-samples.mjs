// Who allocates: samples of the heap while something runs, what is collected at once included.
import { Session } from 'node:inspector/promises'

/** Bytes by the function that allocated them, estimated from one sample for each 4 KB on the average. */
export async function allocatedIn(run) {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  await run()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const bytes = new Map()
  const count = ({ callFrame, selfSize, children }) => {
    const name = nameOf(callFrame)
    bytes.set(name, (bytes.get(name) ?? 0) + selfSize)
    for (const child of children) count(child)
  }
  count(profile.head)
  return bytes
}

const nameOf = ({ functionName, url, lineNumber }) =>
  `${functionName || '(anonymous)'} ${url.replace(/.*\/(packages|node_modules|bench)\//, '$1/')}:${lineNumber + 1}`
