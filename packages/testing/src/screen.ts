// What a person in front of a stream has on the screen: text, reasoning and tool calls, block by block. A reader that
// honours `step-reset`, in a few lines.
import type { Chunk } from '@lockstep/processors'

/** One block of a screen: what was written, or a tool call with what came of it. */
export type ScreenBlock =
  | {
      readonly type: 'text' | 'reasoning' | 'tool-input'
      readonly stepNumber: number
      readonly id: string
      readonly text: string
    }
  | {
      readonly type: 'tool'
      readonly stepNumber: number
      readonly id: string
      readonly toolName: string
      readonly input: unknown
      readonly outcome?: unknown
    }

/** The blocks in the order in which they appeared; what was withdrawn is gone. */
export function screenOf(chunks: readonly Chunk[]): readonly ScreenBlock[] {
  let blocks: ScreenBlock[] = []
  let stepNumber = 0
  const write = (type: 'text' | 'reasoning' | 'tool-input', id: string, text: string) => {
    const at = blocks.findIndex(block => block.type === type && block.id === id && block.stepNumber === stepNumber)
    if (at < 0) blocks.push({ type, stepNumber, id, text })
    else blocks[at] = { ...blocks[at]!, text: (blocks[at] as { readonly text: string }).text + text } as ScreenBlock
  }
  const settle = (id: string, outcome: unknown) => {
    blocks = blocks.map(block => (block.type === 'tool' && block.id === id ? { ...block, outcome } : block))
  }
  for (const chunk of chunks)
    switch (chunk.type) {
      case 'step-start':
        stepNumber = chunk.payload.stepNumber
        break
      case 'step-reset':
        blocks = blocks.filter(block => block.stepNumber < chunk.payload.stepNumber)
        break
      case 'text-delta':
        write('text', chunk.payload.id, chunk.payload.text)
        break
      case 'reasoning-delta':
        write('reasoning', chunk.payload.id, chunk.payload.text)
        break
      case 'tool-input-delta':
        write('tool-input', chunk.payload.id, chunk.payload.delta)
        break
      case 'tool-call': {
        const { toolCallId: id, toolName, input } = chunk.payload
        blocks.push({ type: 'tool', stepNumber, id, toolName, input })
        break
      }
      case 'tool-result':
        settle(chunk.payload.toolCallId, chunk.payload.output)
        break
      case 'tool-error':
        settle(chunk.payload.toolCallId, { error: String(chunk.payload.error) })
        break
      case 'tool-output-denied':
        settle(chunk.payload.toolCallId, { denied: chunk.payload.reason })
        break
      default:
    }
  return blocks
}

/** The text on a screen, blocks and steps joined. Half a surrogate pair shows as a replacement character, as it is stored. */
export function textOnScreen(chunks: readonly Chunk[]): string {
  return screenOf(chunks)
    .map(block => (block.type === 'text' ? wellFormed(block.text) : ''))
    .join('')
}

/** A text without halves of surrogate pairs. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}
