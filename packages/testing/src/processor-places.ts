// Which of the three arrays a processor belongs into, by the hooks that it has.
import { hookNames, type HookName, type Processor, type ProcessorArrays } from '@lockstep/processors'
import { TestingError } from './errors.ts'

const inputHooks = ['processInput', 'processInputStep', 'processLLMRequest'] as const satisfies readonly HookName[]
const outputHooks = [
  'processOutputStream',
  'flush',
  'processOutputStep',
  'processToolCall',
  'processToolResult',
  'processOutputResult',
] as const satisfies readonly HookName[]
const anyHooks = ['processLLMResponse', 'processStepEnd', 'processRunEnd'] as const satisfies readonly HookName[]

/** Tells whether a processor has one of the hooks. */
export function hasHook(processor: Processor, ...hooks: readonly HookName[]): boolean {
  return hooks.some(hook => typeof processor[hook] === 'function')
}

/** The hooks of a processor, in time order. */
function hooksOf(processor: Processor): readonly HookName[] {
  return hookNames.filter(hook => hasHook(processor, hook))
}

/** The arrays for processors, each in all where it has a hook of its own. Throws: `no-hook`. */
export function arraysFor(processors: readonly Processor[]): ProcessorArrays {
  const none = processors.find(processor => hooksOf(processor).length === 0)
  if (none)
    throw new TestingError(
      'no-hook',
      `The processor '${none.id}' has no hook, so a run never calls it. Give it one of ${hookNames.join(', ')}.`,
    )
  const within = (...hooks: readonly HookName[]) => processors.filter(processor => hasHook(processor, ...hooks))
  const observers = processors.filter(
    processor => hasHook(processor, ...anyHooks) && !hasHook(processor, ...inputHooks, ...outputHooks),
  )
  const inputProcessors = processors.filter(
    processor => observers.includes(processor) || hasHook(processor, ...inputHooks),
  )
  const outputProcessors = within(...outputHooks)
  const errorProcessors = within('processAPIError')
  return {
    ...(inputProcessors.length > 0 ? { inputProcessors } : {}),
    ...(outputProcessors.length > 0 ? { outputProcessors } : {}),
    ...(errorProcessors.length > 0 ? { errorProcessors } : {}),
  }
}
