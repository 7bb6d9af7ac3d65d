// What the model is called with in every attempt of a step: made once for the settings that steps share.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { MaybePromise, StepSettings } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import { responseFormatOf } from '../object/structured-answer.ts'
import { prepareCallSettings, prepareToolChoice, prepareTools } from '../ai-internal.ts'

/** The options of a call that are the same for all that a step calls. */
type CallSettings = Omit<LanguageModelV4CallOptions, 'prompt' | 'abortSignal'>

/** Steps share their settings, unless a processor changed them. */
const made = new WeakMap<StepSettings, CallSettings>()

/** Gives the settings of a call. They are kept, unless a tool's description depends on the context of the call. */
export function callSettings(settings: StepSettings, toolsContext: object = {}): MaybePromise<CallSettings> {
  return made.get(settings) ?? makeSettings(settings, toolsContext)
}

async function makeSettings(settings: StepSettings, toolsContext: object): Promise<CallSettings> {
  const { headers, maxRetries: _, ...sampling } = settings.modelSettings
  const tools = activeToolsOf(settings)
  const described = await describedTools(tools, toolsContext)
  const call = {
    ...prepareCallSettings(sampling),
    ...(described === undefined
      ? {}
      : { tools: described, toolChoice: prepareToolChoice({ toolChoice: settings.toolChoice }) }),
    ...(settings.structuredOutput === undefined
      ? {}
      : { responseFormat: await responseFormatOf(settings.structuredOutput) }),
    ...(headers === undefined ? {} : { headers }),
    ...(settings.providerOptions === undefined ? {} : { providerOptions: settings.providerOptions }),
  }
  if (!areDescribedInContext(tools)) made.set(settings, call)
  return call
}

const selections = new WeakMap<object, ToolSet>()

/** The tools that a step may call: for the same settings the same set, of which other things are made. */
export function activeToolsOf(settings: Pick<StepSettings, 'tools' | 'activeTools'>): ToolSet {
  const { tools, activeTools } = settings
  if (activeTools === undefined) return tools
  let selected = selections.get(settings)
  if (!selected) {
    const names = activeTools.filter(name => Object.hasOwn(tools, name))
    selections.set(settings, (selected = Object.fromEntries(names.map(name => [name, tools[name]!]))))
  }
  return selected
}

const descriptions = new WeakMap<ToolSet, ReturnType<typeof prepareTools>>()

/** Tool descriptions are made once per set of tools, also where settings change with each step. */
function describedTools(tools: ToolSet, toolsContext: object): ReturnType<typeof prepareTools> {
  let described = descriptions.get(tools)
  if (!described) {
    described = prepareTools({ tools, toolsContext })
    if (!areDescribedInContext(tools)) descriptions.set(tools, described)
  }
  return described
}

function areDescribedInContext(tools: ToolSet): boolean {
  return Object.values(tools).some(tool => typeof tool.description === 'function')
}
