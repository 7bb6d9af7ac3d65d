// What secrets look like: the prefixes and lengths that providers document for their keys.

/** A kind of secret. No pattern matches white space, except that of a private key, which is read by its frame. */
export interface SecretPattern {
  readonly kind: string
  readonly pattern: RegExp
}

/**
 * Keys that are one unbroken run of characters. All are linear: a fixed prefix, then a run of one class. A prefix that
 * words can end with must not follow a letter or a digit; the others count wherever they stand.
 */
export const secretPatterns: readonly SecretPattern[] = [
  { kind: 'anthropic-key', pattern: /sk-ant-[\w-]{20,}/g },
  { kind: 'openai-key', pattern: /(?<![A-Za-z0-9])sk-(?=[\w-]{0,60}\d)[\w-]{20,}/g },
  { kind: 'aws-access-key', pattern: /(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g },
  { kind: 'github-token', pattern: /(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{50,})/g },
  { kind: 'gitlab-token', pattern: /glpat-[\w-]{20,}/g },
  { kind: 'google-key', pattern: /AIza[\w-]{35}/g },
  { kind: 'slack-token', pattern: /xox[abeprs]-[\w-]{10,}/g },
  { kind: 'stripe-key', pattern: /[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g },
  { kind: 'npm-token', pattern: /npm_[A-Za-z0-9]{36}/g },
  { kind: 'huggingface-token', pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g },
  { kind: 'sendgrid-key', pattern: /(?<![A-Za-z0-9])SG\.[\w-]{16,}\.[\w-]{16,}/g },
  { kind: 'jwt', pattern: /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g },
]
