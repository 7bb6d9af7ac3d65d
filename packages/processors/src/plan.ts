// Which processor runs in which hook, decided once per run.
import { ProcessorError } from './errors.ts'
import { inWords } from './in-words.ts'
import { hookNames, type HookName, type Processor } from './processor.ts'

/** The three arrays in which processors are given. */
export interface ProcessorArrays {
  readonly inputProcessors?: readonly Processor[]
  readonly outputProcessors?: readonly Processor[]
  readonly errorProcessors?: readonly Processor[]
}

/**
 * A memory, as an agent takes it: it puts its own processors around those of a call, the first to load and the last to
 * save. What it adds are processors like any others.
 */
export interface AgentMemory {
  around(processors: ProcessorArrays): ProcessorArrays
}

/** For each hook, the processors that have it, in the order in which they are called. */
export type ProcessorPlan = { readonly [hook in HookName]: readonly Processor[] } & {
  /** All processors, in order, each once. */
  readonly processors: readonly Processor[]
  /** The output processors that see the stream or hold some of it back, in order. */
  readonly streaming: readonly Processor[]
}

type ArrayName = keyof ProcessorArrays

const placesOf: { readonly [hook in HookName]: readonly ArrayName[] } = {
  processInput: ['inputProcessors'],
  processInputStep: ['inputProcessors'],
  processLLMRequest: ['inputProcessors'],
  processAPIError: ['errorProcessors', 'inputProcessors', 'outputProcessors'],
  processOutputStream: ['outputProcessors'],
  processLLMResponse: ['inputProcessors', 'outputProcessors'],
  processOutputStep: ['outputProcessors'],
  processToolCall: ['outputProcessors'],
  processToolResult: ['outputProcessors'],
  processStepEnd: ['inputProcessors', 'outputProcessors', 'errorProcessors'],
  processOutputResult: ['outputProcessors'],
  processRunEnd: ['inputProcessors', 'outputProcessors', 'errorProcessors'],
  flush: ['outputProcessors'],
}

/**
 * Plans a run. One id in several arrays is one processor: a hook that runs for several arrays runs once for it.
 *
 * *Throws*: `not-a-processor`, `unknown-hook`, `no-hook-for-array`, `duplicate-id`.
 */
export function planProcessors(arrays: ProcessorArrays): ProcessorPlan {
  for (const array of ['inputProcessors', 'outputProcessors', 'errorProcessors'] as const) checkArray(arrays, array)
  const hooks = hookNames.map(hook => [hook, withHook(arrays, hook)] as const)
  const everyone = placesOf.processRunEnd.flatMap(array => arrays[array] ?? [])
  return {
    ...(Object.fromEntries(hooks) as { [hook in HookName]: readonly Processor[] }),
    processors: [...new Map(everyone.map(processor => [processor.id, processor])).values()],
    streaming: (arrays.outputProcessors ?? []).filter(
      processor => 'processOutputStream' in processor || 'flush' in processor,
    ),
  }
}

function withHook(arrays: ProcessorArrays, hook: HookName): readonly Processor[] {
  const byId = new Map<string, Processor>()
  for (const array of placesOf[hook])
    for (const processor of arrays[array] ?? [])
      if (typeof processor[hook] === 'function' && !byId.has(processor.id)) byId.set(processor.id, processor)
  return [...byId.values()]
}

const checked = new WeakSet<object>()

function checkArray(arrays: ProcessorArrays, array: ArrayName): void {
  const ids = new Set<string>()
  for (const processor of arrays[array] ?? []) {
    checkProcessor(processor, array)
    if (ids.has(processor.id))
      throw new ProcessorError(
        'duplicate-id',
        `${array} has two processors with the id '${processor.id}'. Give each its own id, or list the processor once.`,
        { processorId: processor.id },
      )
    ids.add(processor.id)
    if (!hookNames.some(hook => placesOf[hook].includes(array) && typeof processor[hook] === 'function'))
      throw new ProcessorError(
        'no-hook-for-array',
        hookNames.some(hook => typeof processor[hook] === 'function')
          ? `The processor '${processor.id}' has no hook that runs in ${array}. Move it to ${arraysFor(processor)}.`
          : `The processor '${processor.id}' has no hook. The hooks are ${hookNames.join(', ')}.`,
        { processorId: processor.id },
      )
  }
}

function checkProcessor(processor: unknown, array: ArrayName): asserts processor is Processor {
  if (
    typeof processor !== 'object' ||
    processor === null ||
    typeof (processor as Processor).id !== 'string' ||
    (processor as Processor).id === ''
  )
    throw new ProcessorError(
      'not-a-processor',
      `${array} has ${describe(processor)} in it; a processor is an object with a non-empty string as \`id\` and hooks.`,
    )
  if (checked.has(processor)) return
  const { id } = processor as Processor
  for (const name of memberNames(processor)) {
    if (
      !/^process[A-Z]/.test(name) ||
      allowed.has(name) ||
      typeof (processor as Record<string, unknown>)[name] !== 'function'
    )
      continue
    throw new ProcessorError(
      'unknown-hook',
      `The processor '${id}' has a method '${name}', which is no hook. The hooks are ${hookNames.join(', ')}.`,
      {
        processorId: id,
      },
    )
  }
  checkChoice(processor as Processor, 'hold', ['step', 'run'])
  checkChoice(processor as Processor, 'onError', ['fail', 'skip'])
  checked.add(processor)
}

/** One that is none of them would be as good as none: a guard that is not there. */
function checkChoice(processor: Processor, name: 'hold' | 'onError', choices: readonly string[]): void {
  const value: unknown = processor[name]
  if (value === undefined || choices.includes(value as string)) return
  throw new ProcessorError(
    'not-a-processor',
    `The processor '${processor.id}' says ${name}: ${inWords(value)}. Say ${choices.map(choice => `'${choice}'`).join(' or ')}, or nothing.`,
    { processorId: processor.id },
  )
}

const allowed: ReadonlySet<string> = new Set<string>(hookNames)

function* memberNames(processor: object): Iterable<string> {
  for (
    let at: object | null = processor;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    yield* Object.getOwnPropertyNames(at)
}

function arraysFor(processor: Processor): string {
  const places = hookNames
    .filter(hook => typeof processor[hook] === 'function')
    .flatMap(hook => placesOf[hook].slice(0, 1))
  return [...new Set(places)].join(' or ')
}

function describe(value: unknown): string {
  if (typeof value === 'function') return `a function (${value.name || 'unnamed'}; call it, or write \`new\`)`
  if (typeof value === 'string') return `the string ${JSON.stringify(value)}`
  return typeof value === 'object' && value !== null
    ? `an object with the keys ${JSON.stringify(Object.keys(value))}`
    : String(value)
}
