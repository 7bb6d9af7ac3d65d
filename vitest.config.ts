// One test run for the whole repository: every package and example is a project. Tests read the sources through the
// `@lockstep/source` export condition; with LOCKSTEP_BUILT=1 they read the built files, as users will.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { testCount } from './.ci/test-count.ts'

const root = import.meta.dirname
const built = process.env['LOCKSTEP_BUILT'] === '1'
// `import` and `default` always hold; named here, they would hold for `require` too.
const conditions = [...(built ? [] : ['@lockstep/source']), 'node']
const suites = ['packages', 'examples'].flatMap(folder =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .filter(name => existsSync(join(root, folder, name, 'test')))
        .map(name => ({ name, dir: `${folder}/${name}` }))
    : [],
)

export default defineConfig({
  test: {
    reporters: ['default', testCount],
    projects: [...suites, { name: 'repository', dir: '.ci' }].map(({ name, dir }) => ({
      root: join(root, dir),
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        name,
        include: ['test/**/*.test.ts'],
        environment: 'node',
        testTimeout: 20_000,
        setupFiles: [join(root, '.ci/law-seed.ts')],
      },
    })),
  },
})
