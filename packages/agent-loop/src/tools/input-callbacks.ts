// Tools that want to know about their input: while the model writes it, and when the guards have let it pass.
import type { ChunkNamed } from '@lockstep/processors'
import type { ToolSet } from 'ai'
import type { Attempt } from '../step/attempt.ts'
import { activeToolsOf } from '../model/call-settings.ts'
import type { Run } from '../run/run.ts'
import { toolOptions } from './tool-context.ts'
import type { GuardedToolCall } from './tool-guard.ts'

/** Tells the tools of one attempt about the input that the model writes, as it left the processors. */
export class InputCallbacks {
  readonly #toolNames = new Map<string, string>()

  async tell(run: Run, attempt: Attempt, chunk: ChunkNamed<'tool-input-start' | 'tool-input-delta'>): Promise<void> {
    const toolCallId = chunk.payload.id
    if (chunk.type === 'tool-input-start') this.#toolNames.set(toolCallId, chunk.payload.toolName)
    const toolName = this.#toolNames.get(toolCallId) ?? ''
    const tool = toolNamed(attempt, toolName)
    const callback = chunk.type === 'tool-input-start' ? tool?.onInputStart : tool?.onInputDelta
    if (!tool || !callback) return
    const options = await toolOptions(run, tool, { toolCallId, toolName, signal: run.signal })
    const delta = chunk.type === 'tool-input-delta' ? { inputTextDelta: chunk.payload.delta } : {}
    await run.whileRunning(callback.call(tool, Object.assign(options, delta) as never))
  }
}

/** Tells a tool its whole input, once it is sure that the call was not refused. */
export function tellInput(run: Run, attempt: Attempt, call: GuardedToolCall): Promise<void> | undefined {
  const { toolName, verdict } = call
  if (verdict.type !== 'run' && verdict.type !== 'asked') return
  const tool = toolNamed(attempt, toolName)
  if (tool?.onInputAvailable) return tellTool(run, tool, { call, input: verdict.input })
}

async function tellTool(
  run: Run,
  tool: ToolSet[string],
  { call, input }: { readonly call: GuardedToolCall; readonly input: unknown },
): Promise<void> {
  const { toolCallId, toolName } = call
  const options = await toolOptions(run, tool, { toolCallId, toolName, signal: run.signal })
  await run.whileRunning(tool.onInputAvailable!(Object.assign(options, { input }) as never))
}

function toolNamed(attempt: Attempt, toolName: string): ToolSet[string] | undefined {
  const tools = activeToolsOf(attempt.prepared!.settings)
  return Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
}
