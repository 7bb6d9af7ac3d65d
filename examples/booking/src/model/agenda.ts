// The instructions of a batch read back: what is known, what has just changed, what is to be said and asked.

/** One line of the agenda: a question with its step, or something to say. */
export interface AgendaLine {
  readonly stepId: string | undefined
  readonly fields: readonly string[]
  readonly text: string
}

/** What a reply has to do. */
export interface Agenda {
  readonly known: readonly string[]
  readonly news: readonly string[]
  readonly lines: readonly AgendaLine[]
}

/** Reads the instructions, which are plain lines of text. */
export function readAgenda(instructions: string): Agenda {
  const lines = instructions.split('\n')
  const below = (heading: string): readonly string[] => {
    const start = lines.indexOf(heading) + 1
    const end = lines.findIndex((line, index) => index >= start && !line.startsWith('- '))
    return start === 0 ? [] : lines.slice(start, end < 0 ? lines.length : end).map(line => line.slice(2))
  }
  return {
    known: below('Known facts, never to be asked for again:').map(line => line.split(':', 1)[0] ?? ''),
    news: below('Just now, to be mentioned:'),
    lines: lines.flatMap(readLine),
  }
}

function readLine(line: string): readonly AgendaLine[] {
  const {
    kind,
    stepId,
    fields = '',
    text = '',
  } = /^(?:\d+\.|-) (?<kind>ask|say)(?: \[(?<stepId>.+?)\] for (?<fields>.+?))?: (?<text>.+)$/.exec(line)?.groups ?? {}
  if (kind === undefined) return []
  // A question without an id is the one that this call asks whatever it reads.
  return [
    {
      stepId: kind === 'ask' ? (stepId ?? '') : undefined,
      fields: fields.split(', ').filter(Boolean),
      text: wordsOf(text),
    },
  ]
}

/** What an agenda says word for word is in quotes. */
function wordsOf(text: string): string {
  const [, quoted] = /^exactly these words: ("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  return quoted === undefined ? text : String(JSON.parse(quoted))
}
