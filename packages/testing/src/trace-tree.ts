// The trace of a run as a tree of plain values: to compare in a test, to print when it is not as expected.
import { printTrace, type RunTrace } from '@lockstep/agent-loop'

/** A line of a trace, and what happened below it. Times and ids are not in it, so that two runs alike are equal. */
export interface TraceTree {
  readonly text: string
  readonly children: readonly TraceTree[]
}

/** Anything that has the trace of a run: a result, of an agent too. */
export interface Traced {
  readonly trace: Omit<RunTrace, 'toString'>
}

/** The trace of a run as a tree. `String(traceOf(run))` prints it. */
export function traceOf({ trace }: Traced): TraceTree {
  const printed = printTrace(trace)
  const root: Branch = { text: '', children: [] }
  const path = [root]
  for (const line of printed.split('\n')) {
    const [, indent, text] = /^((?:(?:│ {2}| {3})*(?:[├└]─ ))?)(.*)$/s.exec(line) as unknown as [string, string, string]
    const depth = path.length === 1 ? 0 : indent.length / 3
    // What a provider or a person wrote may have more than one line.
    if (path.length > 1 && depth === 0) path.at(-1)!.text += `\n${text}`
    else {
      path.length = depth + 1
      const branch: Branch = { text, children: [] }
      path.at(-1)!.children.push(branch)
      path.push(branch)
    }
  }
  return printing(root.children[0]!, printed)
}

interface Branch {
  text: string
  readonly children: Branch[]
}

function printing(tree: Branch, printed: string): TraceTree {
  return Object.defineProperty(tree, 'toString', { value: () => printed })
}
