// What the command line means: its options, its defaults and its help.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AskDocsError } from './errors.ts'

export type CommandLine = {
  readonly help: boolean
  readonly chat: boolean
  /** The folder asked about; without one, this repository's own documents. */
  readonly docs: string | undefined
  readonly question: string | undefined
}

/** This repository, whose documents are asked about when no folder is given. */
export const ownRepository = join(import.meta.dirname, '..', '..', '..')

/** Leaves out what does not explain the library: the examples, the benchmarks, the change logs and the table of tests. */
export const notOwnDocuments = (path: string): boolean =>
  /^(examples|bench|docs\/conformance\.md)$|(^|\/)CHANGELOG\.md$/.test(path)

export const defaultQuestion = 'how do I write my own processor and test it'

export const help = `Answers questions about a folder of Markdown, with citations and a trace of how it got there.

  npm start                                  asks about this repository: "${defaultQuestion}"
  npm start -- "question"                    asks about this repository
  npm start -- --docs DIR "question"         asks about any folder of .md, .mdx and .markdown files
  npm start -- --docs DIR --chat             opens a prompt and keeps the conversation; an empty line ends it

The model is embedded and needs no network; it finds and quotes. To use another:

  LOCKSTEP_MODEL=openai/MODEL                with OPENAI_API_KEY
  LOCKSTEP_MODEL=anthropic/MODEL             with ANTHROPIC_API_KEY
  OPENAI_BASE_URL=URL LOCKSTEP_MODEL=MODEL   any OpenAI-compatible server (Ollama, LM Studio, vLLM), OPENAI_API_KEY if it wants one
`

/** Reads the arguments. *Throws* `AskDocsError` for what it does not know, with a pointer to the help. */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { docs: { type: 'string' }, chat: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    const question = positionals.join(' ').trim()
    return {
      help: values.help ?? false,
      chat: values.chat ?? false,
      docs: values.docs,
      question: question || undefined,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new AskDocsError('bad-arguments', `${problem}\nSee --help for what there is.`, error)
  }
}
