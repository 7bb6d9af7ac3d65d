// The trace of a run: what happened, step by step, as a value that prints as a tree.
import type { LedgerEvent, LedgerTotal, StopReason } from '@lockstep/processors'
import { errorText } from '../error-text.ts'
import type { FinishReason, LanguageModelUsage } from 'ai'

/** What became of one try at a step. */
export interface AttemptTrace {
  readonly attemptNumber: number
  readonly modelId: string
  readonly outcome: 'accepted' | 'retried' | 'refused' | 'failed' | 'invalid-object'
  /** Why it was not accepted. */
  readonly reason?: string
  readonly finishReason?: FinishReason
  readonly tokenCount?: number
}

/** What became of one tool call. */
export interface ToolTrace {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly outcome: 'result' | 'error' | 'denied' | 'answered' | 'asked' | 'not-run'
}

/** One step: its attempts, its tool calls, and the processors that did something. */
export interface StepTrace {
  readonly stepNumber: number
  readonly attempts: readonly AttemptTrace[]
  readonly tools: readonly ToolTrace[]
}

/** A processor, by its id in events and its name for people. */
export interface ProcessorTrace {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
}

/** A run, for people and tests. */
export interface RunTrace {
  readonly runId: string
  /** The processors of the run, in order, as they call and describe themselves. */
  readonly processors: readonly ProcessorTrace[]
  readonly steps: readonly StepTrace[]
  readonly events: readonly LedgerEvent[]
  readonly totals: readonly LedgerTotal[]
  readonly stopReason: StopReason
  /** What the detached calls of each processor used, by its id. */
  readonly usageByProcessor: ReadonlyMap<string, LanguageModelUsage>
  /** The tree as text; without times and ids, so that two runs alike print alike. */
  toString(): string
}

/** The records that a run keeps while it goes. */
export class TraceRecorder {
  readonly #steps: { stepNumber: number; attempts: AttemptTrace[]; tools: ToolTrace[] }[] = []

  get steps(): readonly StepTrace[] {
    return this.#steps
  }

  /** Goes on from the records of a run that was put down. */
  restore(steps: readonly StepTrace[]): void {
    for (const { stepNumber, attempts, tools } of steps)
      this.#steps.push({ stepNumber, attempts: [...attempts], tools: [...tools] })
  }

  attempt(stepNumber: number, attempt: AttemptTrace): void {
    this.#step(stepNumber).attempts.push(attempt)
  }

  /** How often a step has been tried, also when it was accepted and taken back with the whole response. */
  attemptCountOf(stepNumber: number): number {
    const last = this.#steps.at(-1)
    return last?.stepNumber === stepNumber ? last.attempts.length : 0
  }

  tool(stepNumber: number, tool: ToolTrace): void {
    this.#step(stepNumber).tools.push(tool)
  }

  finish(run: Omit<RunTrace, 'steps' | 'toString'>): RunTrace {
    const trace = { ...run, events: [...run.events], steps: this.#steps }
    return { ...trace, toString: () => printTrace(trace) }
  }

  /** Steps come in order: it is the last one, or a new one. */
  #step(stepNumber: number) {
    const last = this.#steps.at(-1)
    if (last?.stepNumber === stepNumber) return last
    const step = { stepNumber, attempts: [], tools: [] }
    this.#steps.push(step)
    return step
  }
}

interface Node {
  readonly text: string
  readonly children: readonly Node[]
}

/** Prints a trace as a tree. */
export function printTrace(trace: Omit<RunTrace, 'toString'>): string {
  const nodesOf = (hooks: readonly string[]) => trace.events.filter(event => hooks.includes(event.hook)).map(eventNode)
  const steps = trace.steps.map(step => stepNode(step, trace.events))
  const nodes = [...nodesOf(['processInput']), ...steps, ...nodesOf(['processOutputResult', 'processRunEnd'])]
  return [`run: ${trace.stopReason}`, ...treeLines(nodes)].join('\n')
}

const endHooks: ReadonlySet<string> = new Set(['processInput', 'processOutputResult', 'processRunEnd'])

function stepNode(step: StepTrace, events: readonly LedgerEvent[]): Node {
  const own = events.filter(event => event.stepNumber === step.stepNumber && !endHooks.has(event.hook))
  const attempts = step.attempts.map(attempt => attemptNode(attempt, own))
  const toolEvents = own.filter(event => toolHooks.has(event.hook)).map(eventNode)
  const tools = step.tools.map(tool => ({
    text: `tool ${tool.toolName}(${inputText(tool.input)}): ${tool.outcome}`,
    children: [],
  }))
  return { text: `step ${step.stepNumber}`, children: [...attempts, ...tools, ...toolEvents] }
}

const toolHooks: ReadonlySet<string> = new Set(['processToolResult', 'processStepEnd'])

function attemptNode(attempt: AttemptTrace, events: readonly LedgerEvent[]): Node {
  const own = events.filter(event => event.attemptNumber === attempt.attemptNumber && !toolHooks.has(event.hook))
  // A processor that refused says why, right below.
  const speaksForItself = attempt.outcome === 'failed' || attempt.outcome === 'invalid-object'
  const reason = speaksForItself ? [attempt.reason ?? 'no answer'] : []
  const tokens = attempt.tokenCount === undefined ? [] : [`${attempt.tokenCount} tokens`]
  const how = [...reason, ...(attempt.finishReason === undefined ? [] : [attempt.finishReason]), ...tokens].join(', ')
  const text = `${attempt.modelId} ${attempt.outcome}`
  return { text: how === '' ? text : `${text}: ${how}`, children: own.map(eventNode) }
}

function eventNode({ processorId, hook, effect }: LedgerEvent): Node {
  return { text: `${processorId}.${hook}: ${effectText(effect)}`, children: [] }
}

/** An effect in words. What a processor said is in it, what it saw is not. */
export function effectText(effect: LedgerEvent['effect']): string {
  switch (effect.type) {
    case 'changed':
      return `changed ${effect.what.join(', ')}`
    case 'chunks':
      return [
        ...(effect.text === 'same' ? [] : [`${effect.text} text`]),
        ...(['changed', 'dropped', 'added'] as const)
          .filter(kind => effect[kind] > 0)
          .map(kind => `${kind} ${effect[kind]} ${effect[kind] === 1 ? 'chunk' : 'chunks'}`),
      ].join(', ')
    case 'tripwire':
      return `${effect.retry ? 'asked for a retry' : 'refused'}: ${JSON.stringify(effect.reason)}`
    case 'decided':
      return effect.decision
    case 'skipped':
      return `failed and was skipped: ${errorText(effect.error)}`
    case 'kept-step-only':
      return `edited ${effect.messageIds.join(', ')} for this step only`
  }
}

function treeLines(nodes: readonly Node[], indent = ''): readonly string[] {
  return nodes.flatMap((node, index) => {
    const last = index === nodes.length - 1
    return [
      `${indent}${last ? '└─ ' : '├─ '}${node.text}`,
      ...treeLines(node.children, `${indent}${last ? '   ' : '│  '}`),
    ]
  })
}

function inputText(input: unknown): string {
  const text = JSON.stringify(input) ?? ''
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
