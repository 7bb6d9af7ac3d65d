// Tells languages with the library `eld`, which is loaded when the first text comes.
import { BuiltinError } from '../errors.ts'

/** What a text was told to be. */
export interface DetectedLanguage {
  /** A code of ISO 639-1. */
  readonly language: string
  /** Set when it can be relied on: what is only guessed is never refused. */
  readonly isReliable: boolean
}

/** A function that tells languages. Rejects with `missing-library` where `eld` is not installed. */
export function eldDetection(): (text: string) => Promise<DetectedLanguage | undefined> {
  return async text => {
    const { eld } = await loadEld()
    const detected = eld.detect(text)
    return detected.language === '' ? undefined : { language: detected.language, isReliable: detected.isReliable() }
  }
}

/** The small database: 60 languages in 1.6 MB. */
async function loadEld(): Promise<typeof import('eld/small')> {
  try {
    return await import('eld/small')
  } catch (error) {
    throw new BuiltinError(
      'missing-library',
      `Languages are told by the library eld, which cannot be loaded: ${error instanceof Error ? error.message : String(error)}. Run npm i eld, or give detect.`,
      { cause: error },
    )
  }
}
