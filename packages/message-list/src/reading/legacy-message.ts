// The messages of the AI SDK 4 and of Mastra, as far as they are read. They are never written.

interface LegacyEnvelope {
  readonly id?: string
  readonly createdAt?: string | Date
}

type LegacyContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: unknown; readonly mimeType?: string }
  | { readonly type: 'file'; readonly data: unknown; readonly mimeType: string; readonly filename?: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly signature?: string }
  | { readonly type: 'redacted-reasoning'; readonly data: string }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly args: unknown }
  | {
      readonly type: 'tool-result'
      readonly toolCallId: string
      readonly toolName: string
      readonly result: unknown
      readonly isError?: boolean
      readonly experimental_content?: readonly object[]
    }

type LegacyUIPart =
  | { readonly type: 'text'; readonly text: string; readonly providerMetadata?: object }
  | { readonly type: 'step-start' }
  | { readonly type: 'reasoning'; readonly reasoning: string; readonly details?: readonly object[] }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature?: string }
  | { readonly type: 'source'; readonly source: object }
  | { readonly type: 'file'; readonly data: unknown; readonly mimeType: string; readonly filename?: string }
  | { readonly type: 'tool-invocation'; readonly toolInvocation: object; readonly providerMetadata?: object }

/** A core message of the AI SDK 4. */
export interface CoreMessageV4 extends LegacyEnvelope {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: readonly LegacyContentPart[]
}

/** A UI message of the AI SDK 4: a text, and beside it what is a part today. */
export interface UIMessageV4 extends LegacyEnvelope {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string
  readonly parts?: readonly LegacyUIPart[]
  readonly reasoning?: string
  readonly toolInvocations?: readonly object[]
  readonly experimental_attachments?: readonly object[]
  readonly annotations?: readonly unknown[]
  readonly data?: unknown
}

/** A stored message of Mastra. */
export interface MastraMessageV2 extends LegacyEnvelope {
  readonly role: 'user' | 'assistant' | 'system'
  readonly threadId?: string | null
  readonly resourceId?: string | null
  readonly content: {
    readonly format: 2
    readonly parts: readonly (LegacyUIPart | { readonly type: string })[]
    readonly content?: string
    readonly toolInvocations?: readonly object[]
    readonly metadata?: { readonly [key: string]: unknown }
  }
}

/** A message in a format of the past. */
export type LegacyMessage = CoreMessageV4 | UIMessageV4 | MastraMessageV2
