// Tools by what their names, descriptions and parameters say: an index for searches, by BM25.
import { asSchema, type Tool, type ToolSet } from 'ai'
import MiniSearch from 'minisearch'

interface ToolText {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly parameters: string
}

/** Words at which every second tool would be found. */
const stopWords: ReadonlySet<string> = new Set(
  'a all an and any are as at be by can do for from how i if in into is it its me my need of on or that the this to tool use want what which with you your'.split(
    ' ',
  ),
)

const maxQueryLength = 1_000

/** An index over a set of tools. Making one reads each schema once: about 50 µs a tool. */
export class ToolIndex {
  readonly #tools: ToolSet
  readonly #search: MiniSearch<ToolText>

  private constructor(tools: ToolSet, texts: readonly ToolText[]) {
    this.#tools = tools
    this.#search = new MiniSearch<ToolText>({
      fields: ['name', 'description', 'parameters'],
      tokenize: wordsOf,
      processTerm: termOf,
      searchOptions: { boost: { name: 3, description: 2 }, prefix: term => term.length > 3 },
    })
    this.#search.addAll(texts)
  }

  static async of(tools: ToolSet): Promise<ToolIndex> {
    const texts: ToolText[] = []
    for (const [name, tool] of Object.entries(tools)) {
      const parameters = parametersIn(await asSchema(tool.inputSchema as Parameters<typeof asSchema>[0]).jsonSchema)
      texts.push({ id: name, name, description: descriptionOf(tool), parameters: parameters.join(' ') })
    }
    return new ToolIndex(tools, texts)
  }

  /** Tells whether it is the index of these tools: the same ones, in whatever object. */
  isOf(tools: ToolSet): boolean {
    if (tools === this.#tools) return true
    const names = Object.keys(tools)
    return names.length === Object.keys(this.#tools).length && names.every(name => tools[name] === this.#tools[name])
  }

  /** The names of the tools that fit best, best first. */
  find(
    query: string,
    { limit, among }: { readonly limit: number; readonly among: ReadonlySet<string> },
  ): readonly string[] {
    const found = this.#search.search(query.slice(0, maxQueryLength), { filter: ({ id }) => among.has(id as string) })
    return found.slice(0, limit).map(({ id }) => id as string)
  }
}

/** What a tool says of itself; one that depends on a run says nothing to a search. */
export function descriptionOf({ description }: Tool): string {
  return typeof description === 'string' ? description : ''
}

/** The names and descriptions of parameters, at any depth. */
function parametersIn(schema: unknown): readonly string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && typeof value === 'object' && value !== null) found.push(...Object.keys(value))
      if (key === 'description' && typeof value === 'string') found.push(value)
      else visit(value)
    }
  }
  visit(schema)
  return found
}

/** Words between spaces and signs, and those that a capital letter divides. */
function wordsOf(text: string): string[] {
  return text.split(/[\s\p{P}\p{S}]+|(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)
}

/** One form for a word and its plural. */
function termOf(word: string): string | undefined {
  const lower = word.toLowerCase()
  if (lower === '' || stopWords.has(lower)) return undefined
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower
}
