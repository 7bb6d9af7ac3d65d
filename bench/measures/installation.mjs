// What is on the disk after `npm i`, how much was downloaded for it, and how long the first import takes.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../rounds.mjs'

const megabytes = bytes => bytes / 1e6

export function measure({ entry, home }, _work, { rounds }) {
  const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8'))
  const packages = Object.values(lock.packages)
  return {
    packages: packages.length,
    size: megabytes(sizeOf(join(home, 'node_modules'))),
    tarballs: megabytes(packages.reduce((sum, entryOfLock) => sum + tarballSize(home, entryOfLock), 0)),
    import: median(Array.from({ length: Math.min(rounds, 5) }, () => importTime(entry, home))),
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

function importTime(entry, home) {
  const program = `const start = performance.now(); await import('${entry}'); console.log(performance.now() - start); process.exit()`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: home, encoding: 'utf8' }))
}
