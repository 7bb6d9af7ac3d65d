// Tokens that stand for values, and the way back. It is JSON, so that it can stay in the state of a run.

/** The values of a run that the model knows by a token only. */
export interface TokenVault {
  /** By token. */
  readonly values: { [token: string]: string }
  /** By kind and value. */
  readonly tokens: { [value: string]: string }
  /** How many tokens each kind has. */
  readonly counts: { [kind: string]: number }
}

/** What a token looks like. */
export const tokenPattern = /<[a-z][a-z0-9-]{0,40}-\d{1,6}>/

/** A vault without values. */
export function emptyVault(): TokenVault {
  return { values: {}, tokens: {}, counts: {} }
}

/** The token of a value: the same one whenever the value comes. */
export function tokenOf(vault: TokenVault, kind: string, value: string): string {
  const key = `${kind}:${value}`
  const known = Object.hasOwn(vault.tokens, key) ? vault.tokens[key] : undefined
  if (known !== undefined) return known
  const count = (vault.counts[kind] ?? 0) + 1
  const token = `<${kind}-${count}>`
  vault.counts[kind] = count
  vault.tokens[key] = token
  vault.values[token] = value
  return token
}

/** The value of a token; a token that nobody gave out stays what it is. */
export function valueOf(vault: TokenVault, token: string): string {
  return Object.hasOwn(vault.values, token) ? vault.values[token]! : token
}
