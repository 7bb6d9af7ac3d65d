// The trace of a run as a tree of plain values: to compare in a test, to print when it is not as expected.
import { printTrace, type RunTrace } from '@lockstep/agent-loop'

/** A line of a trace, and what happened below it. Times and ids are not in it, so that two runs alike are equal. */
export interface TraceTree {
  readonly text: string
  readonly children: readonly TraceTree[]
  /** The tree as it is printed for people. */
  toString(): string
}

/** Anything that has the trace of a run: a result, of an agent too. */
export interface Traced {
  readonly trace: Omit<RunTrace, 'toString'>
}

/** The trace of a run as a tree. */
export function traceOf({ trace }: Traced): TraceTree {
  const path: Branch[] = []
  for (const line of printTrace(inLines(trace)).split('\n')) {
    const [, indent = '', text = ''] = /^((?:│ {2}| {3})*(?:[├└]─ )?)(.*)$/s.exec(line)!
    path.length = indent.length / 3
    const branch: Branch = { text: text.replaceAll(lineBreak, '\n'), children: [] }
    path.at(-1)?.children.push(branch)
    path.push(branch)
  }
  return printable(path[0]!)
}

interface Branch {
  readonly text: string
  readonly children: Branch[]
}

/** Stands for a line break in what providers and people wrote. */
const lineBreak = '\ue000'

/** The trace with one line for each thing that happened. */
function inLines(trace: Traced['trace']): Traced['trace'] {
  const inLine = (text: string) => text.replaceAll('\n', lineBreak)
  return {
    ...trace,
    steps: trace.steps.map(({ attempts, tools, ...step }) => ({
      ...step,
      attempts: attempts.map(attempt => ({
        ...attempt,
        modelId: inLine(attempt.modelId),
        ...(attempt.reason === undefined ? {} : { reason: inLine(attempt.reason) }),
      })),
      tools: tools.map(tool => ({ ...tool, toolName: inLine(tool.toolName) })),
    })),
    events: trace.events.map(event => ({
      ...event,
      processorId: inLine(event.processorId),
      effect:
        event.effect.type === 'skipped' ? { type: 'skipped', error: inLine(String(event.effect.error)) } : event.effect,
    })),
  }
}

function printable({ text, children }: Branch): TraceTree {
  const tree = { text, children: children.map(printable) }
  return Object.defineProperty(tree, 'toString', { value: () => linesOf(tree).join('\n') })
}

function linesOf({ text, children }: TraceTree): readonly string[] {
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1
    return linesOf(child).map((line, at) => `${at > 0 ? (isLast ? '   ' : '│  ') : isLast ? '└─ ' : '├─ '}${line}`)
  })
  return [text, ...below]
}
