// A session read back from JSON, with everything checked that a stored one can have lost.
import { z } from 'zod'
import { BatchError } from '../errors.ts'
import { frozenJson } from '../frozen-json.ts'
import type { Session } from './session.ts'

const count = z.number().int().nonnegative()
const counts = z.record(z.string(), count)
const sessionShape = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  turn: count,
  revision: count,
  data: z.record(z.string(), z.json()),
  provenance: z.record(
    z.string(),
    z.strictObject({
      source: z.enum(['initial', 'message', 'hook', 'code']),
      turn: count,
      revision: count,
      words: z.string().optional(),
      stepId: z.string().optional(),
    }),
  ),
  asks: counts,
  visits: z.array(z.strictObject({ routeId: z.string(), stepId: z.string(), count, turn: count, saw: counts })),
  asking: z
    .strictObject({ routeId: z.string(), stepId: z.string(), fields: z.array(z.string()), saw: counts })
    .optional(),
  routeId: z.string().optional(),
})

/**
 * Reads a session back from what `JSON.stringify` made of it, as text or already parsed, and freezes it.
 *
 * Values are taken as they were stored; they were validated when they were set.
 *
 * *Throws* `session-version` for a session of another version, `invalid-session` with the path of what is wrong.
 */
export function parseSession<TData>(json: unknown): Session<TData> {
  const value = typeof json === 'string' ? parseJson(json) : json
  const version: unknown = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (typeof version === 'number' && version !== 1) {
    throw new BatchError(
      'session-version',
      `This session has version ${version}, and this package reads version 1. Read it with the package that wrote it, or begin a new session with its data.`,
    )
  }
  const result = sessionShape.safeParse(value)
  if (!result.success) {
    const [issue] = result.error.issues
    const path = issue?.path.length ? issue.path.join('.') : 'session'
    throw new BatchError(
      'invalid-session',
      `${path}: ${issue?.message ?? 'not a session'}. Pass what JSON.stringify made of a session, unchanged.`,
    )
  }
  return frozenJson(value, 'session') as Session<TData>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BatchError(
      'invalid-session',
      `The text is not JSON (${text.length} characters). Pass what JSON.stringify made of a session, unchanged.`,
      { cause },
    )
  }
}
