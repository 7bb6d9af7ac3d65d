import { createWriter, isDataChunk, RequestContext, type DataChunk } from '@lockstep/processors'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { text } from './run-host.ts'

describe('a request context', () => {
  it('is a typed map', () => {
    const context = new RequestContext<{ tier: 'free' | 'pro'; locale: string }>({ tier: 'pro' })
    expectTypeOf(context.get('tier')).toEqualTypeOf<'free' | 'pro' | undefined>()
    expect([context.get('tier'), context.get('locale'), context.has('locale')]).toEqual(['pro', undefined, false])
    expect(context.set('locale', 'de').get('locale')).toBe('de')
    expect([...context.entries()]).toEqual([
      ['tier', 'pro'],
      ['locale', 'de'],
    ])
    expect([context.delete('tier'), context.delete('tier')]).toEqual([true, false])
    expect(JSON.stringify(context)).toBe('{"locale":"de"}')
  })

  it('is a copy of what it was made of', () => {
    const values: { a: number } = { a: 1 }
    const context = new RequestContext(values)
    values.a = 2
    expect(context.get('a')).toBe(1)
  })
})

describe('a writer', () => {
  it('writes data and nothing else', async () => {
    const written: DataChunk[] = []
    const writer = createWriter(chunk => Promise.resolve(void written.push(chunk)))
    await writer.custom({ type: 'data-x', data: 1, id: 'a' })
    expect(written).toEqual([{ type: 'data-x', data: 1, id: 'a' }])
    for (const wrong of [text('x'), { type: 5 }, {}, null, undefined])
      await expect(writer.custom(wrong as never)).rejects.toMatchObject({ code: 'invalid-data-chunk' })
    expect(written).toHaveLength(1)
  })

  it('knows data from everything else by its name', () => {
    expect([isDataChunk({ type: 'data-x', data: 1 }), isDataChunk(text('x'))]).toEqual([true, false])
  })
})
