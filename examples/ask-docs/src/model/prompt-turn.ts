// What a prompt says about the turn that is going on: the question, what was asked before, and what the tools have answered since.
import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { z } from 'zod'

export type Turn = {
  /** All system messages: the instructions and what processors add to them. */
  readonly instructions: string
  readonly question: string
  /** The user's earlier questions, oldest first. */
  readonly earlierQuestions: readonly string[]
  /** The names of the tools called since the question, in order. */
  readonly called: readonly string[]
  readonly searches: readonly (readonly Hit[])[]
  readonly sections: readonly Section[]
  readonly documents: readonly Listed[]
}

type Part = Extract<LanguageModelV4Message, { role: 'assistant' | 'tool' }>['content'][number]

export type Hit = z.infer<typeof hit>
export type Section = z.infer<typeof section>
export type Listed = z.infer<typeof listed>

// A result is known by its shape, not by the name of its tool.
const hit = z.object({ reference: z.string(), heading: z.string().default(''), snippet: z.string().default('') })
const section = z.object({ reference: z.string(), heading: z.string().default(''), text: z.string() })
const listed = z.object({ path: z.string(), title: z.string().default('') })
const searchOutput = z.object({ hits: z.array(hit) })
const listOutput = z.object({ documents: z.array(listed) })

/** Reads a prompt. What came before the last question counts only as earlier questions. */
export function readTurn(prompt: LanguageModelV4Prompt): Turn {
  const questions = prompt.flatMap(message =>
    message.role === 'user'
      ? [
          message.content
            .map(part => (part.type === 'text' ? part.text : ''))
            .join(' ')
            .trim(),
        ]
      : [],
  )
  const since = prompt.slice(prompt.findLastIndex(message => message.role === 'user') + 1)
  const parts = since.flatMap((message): readonly Part[] =>
    message.role === 'assistant' || message.role === 'tool' ? message.content : [],
  )
  const outputs = parts.flatMap(part => (part.type === 'tool-result' ? [valueOf(part)] : []))
  return {
    instructions: prompt.flatMap(message => (message.role === 'system' ? [message.content] : [])).join('\n'),
    question: questions.at(-1) ?? '',
    earlierQuestions: questions.slice(0, -1),
    called: parts.flatMap(part => (part.type === 'tool-call' ? [part.toolName] : [])),
    searches: shaped(outputs, searchOutput).map(({ hits }) => hits),
    sections: shaped(outputs, section),
    documents: shaped(outputs, listOutput).flatMap(({ documents }) => documents),
  }
}

function shaped<Schema extends z.ZodType>(outputs: readonly unknown[], schema: Schema): readonly z.infer<Schema>[] {
  return outputs.flatMap(output => {
    const parsed = schema.safeParse(output)
    return parsed.success ? [parsed.data] : []
  })
}

function valueOf({ output }: LanguageModelV4ToolResultPart): unknown {
  if (output.type === 'json') return output.value
  if (output.type !== 'text') return undefined
  try {
    return JSON.parse(output.value)
  } catch {
    return undefined
  }
}
