// Prepares a fresh clone, then hands over to Node: `node .ci/setup.mjs <arguments for node>`.
// Plain JavaScript without dependencies: the machine's own Node, which may be too old for the rest, reads this file.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isatty } from 'node:tty'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const windows = process.platform === 'win32'
const stampFile = join(root, 'node_modules', '.lockstep-setup.json')
const bundledNode = join('node_modules', 'node', 'bin', windows ? 'node.exe' : 'node')
const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager

/** What the output of a failed installation means, and its cure. The first pattern that is found decides. */
const installFailures = [
  [/ENOSPC|no space left/i, 'the disk is full', `free about 1 GB where ${root} and the pnpm store are`],
  [
    /certificate|CERT_|UnknownIssuer/i,
    'the npm registry was reached, but its certificate is not trusted',
    'set NODE_EXTRA_CA_CERTS to the file with the certificate of your proxy',
  ],
  [
    /frozen-lockfile|OUTDATED_LOCKFILE|NO_IMPORTER/i,
    'pnpm-lock.yaml does not match the package.json files',
    `run \`npx -y ${pnpm} install\` and commit pnpm-lock.yaml`,
  ],
  [
    /EACCES|EPERM|EROFS|permission denied|read-only file system/i,
    'a file or folder cannot be written',
    `make ${root} and your home folder writable for this user`,
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|network|dns error|error sending request|fetch failed|tunnel/i,
    'the npm registry cannot be reached',
    'check the network; behind a proxy set HTTPS_PROXY, for a mirror run `npm config set registry <url>`',
  ],
]

const fail = (fact, cure, lines = []) => {
  console.error([...lines, `Set-up failed: ${fact}.`, `What to do: ${cure}.`].join('\n'))
  process.exit(1)
}

const capture = (command, args) =>
  spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    // npm, npx and pnpm are scripts on Windows.
    shell: windows && /^\w+$/.test(command),
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    env: { npm_config_fetch_retries: '1', ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' },
  })

/** Everything that decides what an installation looks like, as one hash. */
const manifestKey = () => {
  const members = ['packages', 'examples'].flatMap(folder =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map(name => `${folder}/${name}/package.json`) : [],
  )
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.version}`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...members]) {
    if (existsSync(join(root, file))) hash.update(`\n${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

const installCommand = () => {
  const present = capture('pnpm', ['--version'])
  if (present.status === 0 && `pnpm@${present.stdout.trim()}` === pnpm) return ['pnpm']
  const npm = capture('npm', ['--version'])
  const cure = `install npm 7 or newer (Debian: \`apt-get install npm\`), or ${pnpm}`
  if (npm.status !== 0) fail(`neither ${pnpm} nor npm runs on this machine`, cure)
  if (Number.parseInt(npm.stdout, 10) < 7) fail(`npm ${npm.stdout.trim()} has no usable npx`, cure)
  return ['npx', '-y', pnpm]
}

/** Installs, and returns the Node to run with: the one in node_modules, or the machine's where there is none for it. */
const install = () => {
  const startedAt = Date.now()
  const [command, ...prefix] = installCommand()
  console.error(`Setting up: installing dependencies with ${pnpm} (the first time takes about half a minute) ...`)
  const done = capture(command, [...prefix, 'install', '--frozen-lockfile', '--config.confirmModulesPurge=false'])
  if (done.signal) process.kill(process.pid, done.signal)
  if (done.status !== 0) {
    const output = [done.stdout, done.stderr, done.error?.message].join('\n')
    const lines = output.split('\n').filter(line => line.trim())
    // pnpm wraps its messages, in the middle of a phrase too.
    const known = installFailures.find(([pattern]) => pattern.test(output.replaceAll(/\s+/g, ' ')))
    if (!known) fail(`\`${command}\` could not install`, 'read the output above, then try again', lines.slice(-20))
    fail(known[1], known[2], lines.filter(line => /error|ERR_|×|╰/.test(line)).slice(0, 4))
  }
  const node = [bundledNode, process.execPath].find(runsTypeScript)
  if (!node) {
    fail(
      `Node ${process.version} cannot run TypeScript (22.18 and newer can), and the optional npm package \`node\`, which brings a newer one, did not install`,
      'install Node 24 (https://nodejs.org), or run the command again with npm on the PATH and the registry reachable',
    )
  }
  console.error(`Setting up: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
  return node
}

const runsTypeScript = node => {
  const path = resolve(root, node)
  return existsSync(path) && /^(strip|transform)$/m.test(capture(path, ['-p', 'process.features.typescript']).stdout)
}

/** What the last installation left behind, if it is whole. */
const readStamp = () => {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'))
  } catch {
    return {}
  }
}

/** Installs only when the manifests, the lockfile or the machine's Node have changed since the last time. */
const prepare = () => {
  const key = manifestKey()
  const stamp = readStamp()
  if (stamp.key === key && existsSync(resolve(root, stamp.node))) return stamp.node
  const node = install()
  writeFileSync(stampFile, JSON.stringify({ key, node }))
  return node
}

/** Runs Node as if it had been started instead of this process: same terminal, same signals, same ending. */
const handOver = (node, args) => {
  const path = Object.keys(process.env).find(name => name.toUpperCase() === 'PATH') ?? 'PATH'
  const env = { ...process.env, [path]: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env[path] ?? ''}` }
  const child = spawn(resolve(root, node), args, { cwd: root, env, stdio: 'inherit' })
  // A terminal sends Ctrl-C to the child as well, so only a SIGINT that comes without one is passed on.
  const terminal = [0, 1, 2].some(isatty)
  process.on('SIGINT', () => terminal || child.kill('SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', error =>
    fail(`${node} does not start (${error.message})`, 'delete node_modules and run the command again'),
  )
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

if (Number.parseInt(process.versions.node, 10) < 18) {
  fail(`Node ${process.version} is too old`, 'install Node 18 or newer, best Node 24 (https://nodejs.org)')
}
// pnpm passes the `--` of `pnpm start -- --chat` on, npm does not.
const args = process.argv.slice(2)
const separator = args.indexOf('--')
handOver(prepare(), separator < 0 ? args : args.filter((_, index) => index !== separator))
