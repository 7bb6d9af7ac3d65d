// The versions that a new package begins with: those that this one was tested with.
import { readFileSync } from 'node:fs'

/** Versions of tools, as ranges. */
export const toolVersions = { ai: '^7.0.155', typescript: '^7.0.2', vitest: '^5.1.1', zod: '^4.6.7' } as const

/** The range of the packages of Lockstep: they are released together with this one. */
export function lockstepVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  return `^${version}`
}
