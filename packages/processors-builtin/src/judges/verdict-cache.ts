// What is known of texts that were judged before: opinions by the digest of the text, the ones used last.
import type { Opinion } from './verdict.ts'

/** A bounded memory of opinions. */
export class VerdictCache {
  readonly #size: number
  readonly #known = new Map<string, readonly Opinion[]>()

  constructor(size: number) {
    this.#size = size
  }

  get(digest: string): readonly Opinion[] | undefined {
    const opinions = this.#known.get(digest)
    if (opinions) this.#enter(digest, opinions)
    return opinions
  }

  set(digest: string, opinions: readonly Opinion[]): void {
    this.#enter(digest, opinions)
    if (this.#known.size > this.#size) this.#known.delete(this.#known.keys().next().value!)
  }

  #enter(digest: string, opinions: readonly Opinion[]): void {
    this.#known.delete(digest)
    this.#known.set(digest, opinions)
  }
}

/** SHA-256 of some texts, in letters and digits: another list of texts has another. */
export async function digestOfTexts(texts: readonly string[]): Promise<string> {
  const bytes = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(texts)))
  return Array.from(new Uint8Array(bytes), byte => byte.toString(16).padStart(2, '0')).join('')
}
