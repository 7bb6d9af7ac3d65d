// What is on the disk after `npm i`, how much was downloaded for it, and how long the first import takes.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { median } from '../rounds.mjs'

const megabytes = bytes => bytes / 1e6

export function measure({ entry, home, file }, _work) {
  const times = program => median(Array.from({ length: 5 }, () => timeOf(program, home)))
  const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8'))
  const packages = Object.values(lock.packages)
  return {
    packages: packages.length,
    size: megabytes(sizeOf(join(home, 'node_modules'))),
    tarballs: megabytes(packages.reduce((sum, entryOfLock) => sum + tarballSize(home, entryOfLock), 0)),
    import: times(`await import('${entry}')`),
    first: times(firstAnswer(join(home, basename(file)))),
  }
}

const sizeOf = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile())
    .reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)

/** A tarball beside the folder's package.json, or npm's copy of what it downloaded, which is filed by its digest. */
function tarballSize(home, { resolved, integrity }) {
  if (resolved?.startsWith('file:')) return statSync(join(home, resolved.slice('file:'.length))).size
  const [algorithm, digest] = integrity.split(/-(.*)/)
  const hex = Buffer.from(digest, 'base64').toString('hex')
  const file = join(cache(), '_cacache/content-v2', algorithm, hex.slice(0, 2), hex.slice(2, 4), hex.slice(4))
  if (!existsSync(file)) throw new Error(`npm's cache has no ${resolved}: delete ${home}/node_modules and run again.`)
  return statSync(file).size
}

let cachePath
const cache = () => (cachePath ??= execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim())

/** A program that imports a contestant, with all that it needs, and lets it do the smallest work. */
const firstAnswer = file => `
  const [contestant, { observed }, { works }] = await Promise.all(
    ${JSON.stringify([file, here('observation.mjs'), here('works.mjs')])}.map(path => import(path)))
  await observed(contestant, works['steps-1'])`

const here = file => join(import.meta.dirname, '..', file)

/** Milliseconds that a program takes in a new process, the start of Node apart. */
function timeOf(program, cwd) {
  const timed = `const start = performance.now(); ${program}; console.log(performance.now() - start); process.exit()`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', timed], { cwd, encoding: 'utf8' })
  return Number(output)
}
