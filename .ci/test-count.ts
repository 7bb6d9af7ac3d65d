// The last line of every test run: `N passed, N failed`, counted from Vitest's own report.
import type { Reporter, TestModule, TestSuite } from 'vitest/node'

const brokenSuites = (module: TestModule): number => {
  const failed = (suite: TestModule | TestSuite): boolean => suite.errors().length > 0
  return [module, ...module.children.allSuites()].filter(failed).length
}

/** Prints the counts alone on a line. A file that does not load and an error outside of any test count as failures. */
export const testCount: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const inState = (state: string) => tests.filter(test => test.result().state === state).length
    const broken = modules.reduce((sum, module) => sum + brokenSuites(module), 0)
    const [passed, skipped] = [inState('passed'), inState('skipped')]
    const failed = inState('failed') + broken + unhandledErrors.length
    if (failed > 0 || passed === 0) process.exitCode = 1
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  },
}
