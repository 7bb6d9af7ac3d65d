// What prompt building puts right. The stored messages stay as they are: a repair is made on the way out, and said.

/** One thing that was put right in a prompt, and why. */
export interface PromptRepair {
  readonly type:
    | 'empty-part'
    | 'empty-message'
    | 'unknown-part'
    | 'unusable-file'
    | 'unfinished-call'
    | 'unanswered-call'
    | 'reasoning-without-call'
    | 'call-without-reasoning'
    | 'starts-with-assistant'
  readonly messageId: string
  /** What was done, and why, in a sentence. */
  readonly reason: string
  readonly partType?: string
  readonly toolCallId?: string
}

/** Makes a repair out of what it is about. */
export function repair(
  type: PromptRepair['type'],
  messageId: string,
  about: Omit<PromptRepair, 'type' | 'messageId'>,
): PromptRepair {
  return Object.freeze({ type, messageId, ...about })
}
