// The one build recipe of every package: ESM for the engines we support, no declarations (tsc writes those). The entries are
// those that the package exports.
import { readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'

export const preset = (): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry: entriesOf(process.cwd()),
    format: ['esm'],
    target: 'node22',
    platform: 'neutral',
    external: [/^node:/],
    dts: false,
    sourcemap: false,
    clean: true,
    splitting: true,
    treeshake: true,
    removeNodeProtocol: false,
  } satisfies Options)

/** The sources of a package's exports, as its manifest names them. */
function entriesOf(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly '@lockstep/source': string }>>
  }
  return Object.values(exports).flatMap(target => (typeof target === 'string' ? [] : [target['@lockstep/source']]))
}
