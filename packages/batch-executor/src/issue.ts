// What went wrong without ending anything: a value that was refused, a condition or a listener that threw.

/** The kinds of issue. The first seven are about a value, the others about code in a route or around it. */
export type IssueCode =
  | 'invalid-value'
  | 'unknown-field'
  | 'not-collected'
  | 'not-said'
  | 'locked'
  | 'not-asked'
  | 'changed-since-asked'
  | 'condition-failed'
  | 'prompt-failed'
  | 'over-budget'
  | 'listener-failed'

/** One thing to tell the developer or the user. It is JSON, and never holds the value of a sensitive field. */
export interface Issue {
  readonly code: IssueCode
  readonly message: string
  readonly field?: string
  readonly stepId?: string
}
