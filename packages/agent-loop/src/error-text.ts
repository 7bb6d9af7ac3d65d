// What was thrown, in words. Whatever was thrown: it is seldom an error of ours, and not always an error.

/** An error as the model reads it. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`
  if (typeof error === 'string') return error
  try {
    return JSON.stringify(error) ?? String(error as symbol | undefined)
  } catch {
    // It refers to itself, or has numbers that JSON does not know.
    return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error as bigint)
  }
}
