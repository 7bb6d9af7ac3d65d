// The words of a reply: what was understood, what is to be said, and the first question that is still open.
import type { Agenda } from './agenda.ts'

/** A reply, with the id of the question that it asks. */
export interface WrittenReply {
  readonly asks: string | null
  readonly message: string
}

/** Goes through the agenda with what has just been read. */
export function writeReply({ known, news, lines }: Agenda, values: Readonly<Record<string, unknown>>): WrittenReply {
  const isOpen = (fields: readonly string[]) => fields.length === 0 || fields.some(field => !isKnown(field))
  const isKnown = (field: string) => known.includes(field) || (values[field] !== undefined && values[field] !== false)
  const next = lines.findIndex(line => line.stepId !== undefined && isOpen(line.fields))
  const spoken = next < 0 ? lines.filter(line => line.stepId === undefined) : lines.slice(0, next + 1)
  const said = spoken.filter((line, index) => line.stepId === undefined || index === next).map(line => line.text)
  const closing = said.length === 0 ? ['There is nothing left to do.'] : said
  return {
    asks: lines[next]?.stepId ?? null,
    message: [...understood(values), ...news.map(line => `${capital(line)}.`.replace(/\.\.$/, '.')), ...closing].join(
      ' ',
    ),
  }
}

function understood(values: Readonly<Record<string, unknown>>): readonly string[] {
  const parts = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'boolean') return value ? name : `not ${name}`
    return typeof value === 'number' ? `${value} ${name}` : String(value)
  })
  return parts.length === 0 ? [] : [`Noted: ${parts.join(', ')}.`]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
