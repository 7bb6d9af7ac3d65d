// Runs the one test file that fails.
import { defineConfig } from 'vitest/config'

const conditions = [...(process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['@lockstep/source']), 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { root: import.meta.dirname, include: ['wrong-contract.ts'] },
})
