// What a valid part looks like. Keys that a schema does not name are kept, unseen: a newer SDK may know them.
import { z } from 'zod'
import { MessageListError } from '../errors.ts'
import type { Frozen } from '../frozen-json.ts'
import type { MessagePart } from '../message.ts'
import { isPlainPart } from './plain-part.ts'

const providerMetadata = z.record(z.string(), z.record(z.string(), z.unknown())).optional()
const state = z.enum(['streaming', 'done']).optional()
const text = z.object({ text: z.string(), state, providerMetadata })
const file = z.object({
  url: z.string(),
  mediaType: z.string(),
  filename: z.string().optional(),
  providerReference: z.record(z.string(), z.string()).optional(),
  providerMetadata,
})

const known = new Map<unknown, z.ZodType>(
  Object.entries({
    text,
    reasoning: text,
    custom: z.object({ kind: z.string(), providerMetadata }),
    file,
    'reasoning-file': z.object({ url: z.string(), mediaType: z.string(), providerMetadata }),
    'source-url': z.object({
      sourceId: z.string(),
      url: z.string(),
      title: z.string().optional(),
      providerMetadata,
    }),
    'source-document': z.object({
      sourceId: z.string(),
      mediaType: z.string(),
      title: z.string(),
      filename: z.string().optional(),
      providerMetadata,
    }),
    'step-start': z.object({}),
    'steering-message': z.object({
      id: z.string().min(1),
      parts: z.array(
        z.discriminatedUnion('type', [
          text.extend({ type: z.literal('text') }),
          file.extend({ type: z.literal('file') }),
        ]),
      ),
    }),
  }),
)

const data = z.object({ id: z.string().optional(), data: z.unknown().optional() })
const unknownPart = z.object({ type: z.string().min(1) })

const requested = z.object({
  id: z.string().min(1),
  approved: z.undefined().optional(),
  requestReason: z.string().optional(),
  isAutomatic: z.boolean().optional(),
})
const responded = requested.extend({ approved: z.boolean(), reason: z.string().optional() })
const granted = responded.extend({ approved: z.literal(true) })
const denied = responded.extend({ approved: z.literal(false) })
const absent = z.undefined().optional()

const modelOutput = z
  .object({ type: z.enum(['text', 'json', 'content', 'error-text', 'error-json', 'execution-denied']) })
  .optional()

const call = z.object({
  toolCallId: z.string().min(1),
  title: z.string().optional(),
  providerExecuted: z.boolean().optional(),
  callProviderMetadata: providerMetadata,
  output: absent,
  errorText: absent,
  approval: absent,
})

const byState = new Map<unknown, z.ZodType>(
  Object.entries({
    'input-streaming': call,
    'input-available': call,
    'approval-requested': call.extend({ approval: requested }),
    'approval-responded': call.extend({ approval: responded }),
    'output-available': call.extend({
      output: z.unknown().optional(),
      approval: granted.optional(),
      preliminary: z.boolean().optional(),
      modelOutput,
      resultProviderMetadata: providerMetadata,
    }),
    'output-error': call.extend({
      errorText: z.string(),
      approval: granted.optional(),
      modelOutput,
      resultProviderMetadata: providerMetadata,
    }),
    'output-denied': call.extend({ approval: denied }),
  }),
)

const toolState = z.object({ state: z.enum([...byState.keys()] as [string, ...string[]]) })
const staticName = z.object({ type: z.string().min('tool-'.length + 1, 'the tool has no name') })
const dynamicName = z.object({ toolName: z.string().min(1) })

/** Checks a frozen part and returns it with its type. Throws: `invalid-message`, naming the path. */
export function checkedPart(part: Frozen<unknown>, path: string): MessagePart {
  if (typeof part !== 'object' || part === null) return check(unknownPart, part, path) as MessagePart
  if (isPlainPart(part)) return part as MessagePart
  const { type, state: callState } = part as { readonly type?: unknown; readonly state?: unknown }
  if (type === 'dynamic-tool') check(dynamicName, part, path)
  else if (type === 'tool-') check(staticName, part, path)
  const isCall = typeof type === 'string' && (type.startsWith('tool-') || type === 'dynamic-tool')
  const isData = typeof type === 'string' && type.startsWith('data-')
  const schema = isCall ? (byState.get(callState) ?? toolState) : (known.get(type) ?? (isData ? data : unknownPart))
  return check(schema, part, path) as MessagePart
}

/** Checks a value against a schema and returns the value itself, and not what the schema knows of it. Throws: `invalid-message`, naming the path of the first fault. */
export function check<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const checked = schema.safeParse(value)
  if (checked.success) return value as T
  const issue = checked.error.issues[0]!
  const where = path + issue.path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  throw new MessageListError(
    'invalid-message',
    `${where} is not valid: ${issue.message}. Correct it before adding the message.`,
    {
      path: where,
      cause: checked.error,
    },
  )
}
