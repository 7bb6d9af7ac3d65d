// Instructions to the model. They are kept beside the conversation, never in it.
import { z } from 'zod'
import type { ProviderMetadata } from 'ai'
import { frozen, frozenJson, type Frozen } from './frozen-json.ts'
import { check } from './reading/part-schema.ts'

/** An instruction to the model. */
export interface SystemMessage {
  readonly role: 'system'
  readonly content: string
  readonly providerOptions?: Frozen<ProviderMetadata>
}

/** What is accepted as an instruction: its text, or a message. */
export type SystemInput = string | SystemMessage

const schema = z.object({
  role: z.literal('system'),
  content: z.string(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
})

const stored = new WeakSet<SystemMessage>()

/** Reads one instruction. Throws: `invalid-message` and `unsafe-data`, naming the path. */
export function systemMessage(input: SystemInput, path: string): SystemMessage {
  if (typeof input === 'object' && stored.has(input)) return input
  const { content, providerOptions } = check(
    schema,
    frozenJson(typeof input === 'string' ? { role: 'system', content: input } : input, path),
    path,
  )
  const message = frozen<SystemMessage>({
    role: 'system',
    content,
    providerOptions: providerOptions as Frozen<ProviderMetadata>,
  })
  stored.add(message)
  return message
}
