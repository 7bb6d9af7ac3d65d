// Brings the packages of the contestants: each folder its own, and Lockstep as the tarballs that would be published.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { installedFolders } from './contestants.mjs'

const root = join(import.meta.dirname, '..')
const npmInstall = ['install', '--no-package-lock', '--ignore-scripts', '--prefer-offline', '--loglevel=error']

/** Where `npm i @lockstep/agent ai zod` was done, beside the other contestants. */
export const packedHome = join(import.meta.dirname, 'contestants/.packed')

/** Installs what is new or has changed. Returns why, by folder, for those that could not be installed. */
export function installContestants() {
  const failures = new Map()
  for (const home of installedFolders) {
    const installed = join(home, 'node_modules/.package-lock.json')
    if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(home, 'package.json')).mtimeMs) continue
    console.error(`Installing ${basename(home)} ...`)
    const { status, stderr } = run('npm', npmInstall, home)
    if (status !== 0) failures.set(home, `does not install: ${firstLine(stderr)}`)
  }
  return failures
}

/** Packs `@lockstep/agent` and the packages of ours that it needs, and installs the tarballs into an empty folder. */
export function installPacked() {
  rmSync(packedHome, { recursive: true, force: true })
  mkdirSync(packedHome)
  for (const name of closureOf('agent'))
    must('pnpm', ['pack', '--pack-destination', packedHome], join(root, 'packages', name))
  const tarballs = readdirSync(packedHome).filter(file => file.endsWith('.tgz'))
  writeFileSync(join(packedHome, 'package.json'), '{ "private": true, "type": "module" }\n')
  const { dependencies } = manifestOf(join(import.meta.dirname, 'contestants/ai'))
  const peers = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)
  must('npm', [...npmInstall, ...tarballs.map(file => `./${file}`), ...peers], packedHome)
  // From here the contestant finds what is packed, and not the workspace.
  cpSync(join(import.meta.dirname, 'contestants/lockstep'), packedHome, { recursive: true })
}

const manifestOf = home => JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))

/** The names of the folders of a package and of all that it depends on in this workspace. */
function closureOf(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  for (const dependency of Object.keys(manifestOf(join(root, 'packages', name)).dependencies ?? {}))
    if (dependency.startsWith('@lockstep/')) closureOf(dependency.slice('@lockstep/'.length), found)
  return found
}

const firstLine = text =>
  text.split('\n').find(line => /notarget|ERESOLVE|E\d\d\d|error/.test(line)) ?? text.slice(0, 200)

const run = (command, args, cwd) =>
  spawnSync(command, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })

function must(command, args, cwd) {
  const { status, stdout, stderr } = run(command, args, cwd)
  if (status !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed in ${cwd}:\n${stdout}\n${stderr}`)
}
