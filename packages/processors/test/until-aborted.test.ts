import { getEventListeners } from 'node:events'
import { untilAborted } from '@lockstep/processors'
import { describe, expect, it } from 'vitest'

describe('waiting until an abort', () => {
  const never = new Promise<never>(() => {})

  it('settles as the promise does', async () => {
    const { signal } = new AbortController()
    await expect(untilAborted(Promise.resolve(1), signal)).resolves.toBe(1)
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
  })

  it('ends with the reason of the abort, for everybody who waits', async () => {
    const controller = new AbortController()
    const waits = [untilAborted(never, controller.signal), untilAborted(never, controller.signal)]
    controller.abort(new Error('stop'))
    for (const wait of waits) await expect(wait).rejects.toThrow('stop')
    await expect(untilAborted(never, controller.signal)).rejects.toThrow('stop')
  })

  it('counts what was settled before the abort as settled', async () => {
    const controller = new AbortController()
    const wait = untilAborted(Promise.resolve('done'), controller.signal)
    await Promise.resolve()
    controller.abort()
    await expect(wait).resolves.toBe('done')
  })

  it('listens to a signal once, however many wait for however long', async () => {
    const { signal } = new AbortController()
    for (let index = 0; index < 1000; index++) await untilAborted(Promise.resolve(index), signal)
    void untilAborted(never, signal)
    void untilAborted(never, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  })
})
