// The one build recipe of every package: ESM for the engines we support, no declarations (tsc writes those).
import { defineConfig, type Options } from 'tsup'

export const preset = (entry: readonly string[] = ['src/index.ts']): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry: [...entry],
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
