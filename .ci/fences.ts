// Code fences of Markdown documents as modules that can be type-checked and run. The convention, in one place:
// a `ts` fence is type-checked; directly followed by a `text` fence (blank lines or one line of prose between) it is
// also run, and must print that text. A `ts` fence that starts without an import continues the one above it.

export interface Expectation {
  /** Line of the `ts` fence in the document. */
  readonly line: number
  readonly text: string
}

export interface FenceModule {
  readonly line: number
  /** The code on the same lines as in the document, so that every error position is one in the document. */
  readonly source: string
  readonly expectations: readonly Expectation[]
}

interface Fence {
  readonly info: string
  readonly line: number
  readonly body: readonly string[]
  /** What stands directly below it: `undefined` unless it is a `text` fence. */
  readonly prints?: string
}

const opening = /^(\s*)(`{3,})([^`]*)$/
const code = /^(ts|tsx|mts|typescript|js|jsx|mjs|javascript)\b/i

/** All fences of a document in their order, each with its content, outdented. */
const parseFences = (markdown: string): readonly Fence[] => {
  const lines = markdown.split('\n')
  const fences: (Fence & { readonly end: number })[] = []
  for (let index = 0; index < lines.length; index++) {
    const [, indent = '', ticks = '', info = ''] = opening.exec(lines[index] ?? '') ?? []
    if (!ticks) continue
    const end = lines.findIndex((line, at) => at > index && line.trim() === ticks)
    if (end < 0) throw new Error(`The fence that opens in line ${index + 1} does not end: close it with ${ticks}`)
    const body = lines.slice(index + 1, end).map(line => (line.startsWith(indent) ? line.slice(indent.length) : line))
    fences.push({ info: info.trim(), line: index + 1, body, end: end + 1 })
    index = end
  }
  return fences.map((fence, at) => {
    const next = fences[at + 1]
    const between = next ? lines.slice(fence.end, next.line - 1).filter(line => line.trim()) : []
    const follows = next?.info === 'text' && between.length <= 1 && !between.some(line => line.startsWith('#'))
    return follows ? { ...fence, prints: next.body.join('\n').trimEnd() } : fence
  })
}

/** What a module prints before the output of the fence in this line begins. */
export const marker = (line: number): string => `\u0000fence ${line}\u0000`

const compose = (fences: readonly Fence[]): FenceModule => {
  const source: string[] = []
  const put = (line: number, text: string) => (source[line - 1] = text)
  fences.forEach((fence, at) => {
    // Each fence is a block inside the one that it continues: it sees its names and may use them again for others.
    put(fence.line, `${at > 0 ? ';{' : ''};console.log(${JSON.stringify(marker(fence.line))});`)
    fence.body.forEach((text, offset) => put(fence.line + 1 + offset, text))
  })
  const last = fences.at(-1)
  if (last) put(last.line + 1 + last.body.length, `${'}'.repeat(fences.length - 1)};export {}`)
  return {
    line: fences[0]?.line ?? 0,
    source: `${Array.from(source, text => text ?? '').join('\n')}\n`,
    expectations: fences.flatMap(({ line, prints }) => (prints === undefined ? [] : [{ line, text: prints }])),
  }
}

/**
 * The modules that the `ts` fences of a document make.
 *
 * Throws for a code fence with any other language or flag: there is no way to leave a fence unchecked.
 */
export const fenceModules = (markdown: string): readonly FenceModule[] => {
  const fences = parseFences(markdown).filter(({ info }) => code.test(info))
  const odd = fences.find(({ info }) => info !== 'ts')
  if (odd) throw new Error(`The fence in line ${odd.line} says "${odd.info}": write \`ts\`, and nothing after it`)
  const groups: Fence[][] = []
  for (const fence of fences) {
    const continued = fence.body.some(line => /^(import|export)\b/.test(line)) ? undefined : groups.at(-1)
    if (continued) continued.push(fence)
    else groups.push([fence])
  }
  return groups.map(compose)
}
