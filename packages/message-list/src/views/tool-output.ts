// What a tool's result is called on either side: an output that was stored, and what the model is shown of it.
import type { Frozen } from '../frozen-json.ts'
import { frozen, shareEqual } from '../frozen-json.ts'
import type { ToolModelOutput, ToolPart } from '../message.ts'
import type { ToolChange } from '../editing/tool-state.ts'

type ModelOutput = Frozen<ToolModelOutput>

/** What the model is shown of a call that has ended; undefined while it has not. */
export function modelOutputOf(part: ToolPart): ModelOutput | undefined {
  if (part.modelOutput !== undefined) return part.modelOutput
  switch (part.state) {
    case 'output-available':
      return typeof part.output === 'string'
        ? { type: 'text', value: part.output }
        : { type: 'json', value: (part.output ?? null) as null }
    case 'output-error':
      return part.providerExecuted === true
        ? { type: 'error-json', value: part.errorText }
        : { type: 'error-text', value: part.errorText }
    case 'output-denied':
      return frozen({ type: 'execution-denied', reason: part.approval.reason })
    default:
      return undefined
  }
}

/** The change that a result in a model message is. What the plain output would not give back is kept beside it. */
export function changeOfOutput(given: ModelOutput, providerExecuted: boolean): ToolChange {
  const output = modernOutput(given)
  const change = plainChange(output)
  if (change.state !== 'output-available' && change.state !== 'output-error') return change
  const shown = modelOutputOf({ ...change, providerExecuted } as unknown as ToolPart)
  return shareEqual(shown, output) === shown ? change : { ...change, modelOutput: output }
}

function plainChange(output: ModelOutput): ToolChange {
  switch (output.type) {
    case 'text':
    case 'json':
    case 'content':
      return { state: 'output-available', output: output.value }
    case 'error-text':
      return { state: 'output-error', errorText: output.value }
    case 'error-json':
      return {
        state: 'output-error',
        errorText: typeof output.value === 'string' ? output.value : JSON.stringify(output.value),
      }
    case 'execution-denied':
      return frozen({ state: 'output-denied', reason: output.reason })
  }
}

type ContentItem = Extract<ModelOutput, { type: 'content' }>['value'][number]

/** Puts the deprecated kinds of content into the one that replaced them. An id without its provider stays as it is. */
export function modernOutput(output: ModelOutput): ModelOutput {
  if (output.type !== 'content') return output
  const value = output.value.map(modernItem)
  return value.every((item, index) => item === output.value[index])
    ? output
    : Object.freeze({ ...output, value: Object.freeze(value) })
}

interface MediaItem {
  readonly type: 'media'
  readonly data: string
  readonly mediaType: string
  readonly filename?: string
}

function modernItem(item: ContentItem | MediaItem): ContentItem {
  switch (item.type) {
    case 'media':
    case 'file-data':
    case 'image-data':
      return fileItem({ type: 'data', data: item.data }, item.mediaType, item)
    case 'file-url':
      return fileItem({ type: 'url', url: item.url }, item.mediaType ?? 'application/octet-stream', item)
    case 'image-url':
      return fileItem({ type: 'url', url: item.url }, 'image', item)
    case 'file-reference':
      return fileItem({ type: 'reference', reference: item.providerReference }, 'application', item)
    case 'image-file-reference':
      return fileItem({ type: 'reference', reference: item.providerReference }, 'image', item)
    case 'file-id':
    case 'image-file-id':
      if (typeof item.fileId === 'string') return item
      return fileItem(
        { type: 'reference', reference: item.fileId },
        item.type === 'file-id' ? 'application' : 'image',
        item,
      )
    default:
      return item
  }
}

function fileItem(
  data: object,
  mediaType: string,
  item: { readonly filename?: string; readonly providerOptions?: unknown },
): ContentItem {
  const { filename, providerOptions } = item
  return frozen({
    type: 'file',
    data: Object.freeze(data),
    mediaType,
    filename,
    providerOptions,
  }) as ContentItem
}
