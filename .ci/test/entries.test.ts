// Which files a test run reads: the sources, or with LOCKSTEP_BUILT=1 the built files that users get.
import { describe, expect, it } from 'vitest'
import { manifestOf, packageNames } from '../repository.ts'

const built = process.env['LOCKSTEP_BUILT'] === '1'

describe.each(packageNames)('%s', name => {
  it(`resolves to its ${built ? 'built file' : 'source'}`, () => {
    const expected = built ? `/packages/${name}/dist/index.js` : `/packages/${name}/src/index.ts`
    expect(import.meta.resolve(manifestOf(name).name).endsWith(expected)).toBe(true)
  })
})
