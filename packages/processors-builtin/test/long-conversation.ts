// Conversations that have grown long, and what a prompt has of them.
import type { MessageInput } from '@lockstep/message-list'
import type { ProcessLLMRequestArgs } from '@lockstep/processors'

type Prompt = ProcessLLMRequestArgs['prompt']
type Part = { readonly type: string; readonly toolCallId?: string }

/** Words that are a token each, about. */
export const words = (count: number, word = 'word') => Array.from({ length: count }, () => word).join(' ')

/** Turns with a call in each of them: `question 0`, `result 0`, `answer 0`, … */
export function turnsOf(count: number, length = 20): readonly MessageInput[] {
  return Array.from({ length: count }, (_, index): readonly MessageInput[] => [
    { role: 'user', content: `question ${index} ${words(length)}` },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `past-${index}`, toolName: 'lookup', input: { index } }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: `past-${index}`,
          toolName: 'lookup',
          output: { type: 'text', value: `result ${index} ${words(length)}` },
        },
      ],
    },
    { role: 'assistant', content: `answer ${index} ${words(length)}` },
  ]).flat()
}

/** What of `question 3`, `result 3`, `answer 3`, … is in a prompt, in order. */
export function saidIn(prompt: Prompt): readonly string[] {
  return JSON.stringify(prompt).match(/(question|result|answer) \d+/g) ?? []
}

/** Calls without results and results without calls. */
export function orphansIn(prompt: Prompt): readonly string[] {
  const parts = prompt.flatMap(({ content }): readonly Part[] => (typeof content === 'string' ? [] : content))
  const ids = (type: string) =>
    parts.flatMap(part => (part.type === type && part.toolCallId !== undefined ? [part.toolCallId] : []))
  const [calls, results] = [ids('tool-call'), ids('tool-result')]
  return [...calls.filter(id => !results.includes(id)), ...results.filter(id => !calls.includes(id))]
}
