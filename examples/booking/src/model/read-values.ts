// What a message says, found by rules that follow the schema: fixed values, dates, whole numbers, and yes or no.
import { parse } from 'chrono-node'

/** The schemas of the fields that a call may fill. */
export type FieldSchemas = Readonly<Record<string, FieldSchema>>

interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly anyOf?: readonly FieldSchema[]
}

interface Reading {
  readonly today: Date
  /** The fields that are being asked for: only for them a bare "yes" is an answer. */
  readonly asked: readonly string[]
}

const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** Reads a message. Fields that it says nothing about are not in the result. */
export function readValues(
  words: string,
  schemas: FieldSchemas,
  { today, asked }: Reading,
): Readonly<Record<string, unknown>> {
  const dates = parse(words, today, { forwardDate: true })
  const text = dates.reduce((rest, { text: date }) => rest.replace(date, ' '), words).toLowerCase()
  const found = Object.entries(schemas).map(([name, schema]) => {
    const { type, enum: values, description = '' } = schema.anyOf?.find(one => one.type !== 'null') ?? schema
    if (values !== undefined) return [name, mentioned(text, name, values.map(String))]
    if (type === 'integer' || type === 'number') return [name, lastNumber(text)]
    if (type === 'boolean') return [name, yesOrNo(text, name, asked.includes(name))]
    return [name, description.includes('format date') ? isoDate(dates.at(-1)?.start.date()) : undefined]
  })
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Readonly<Record<string, unknown>>
}

/** The value that is mentioned last, by a word that no other value has; "a hotel" names none. */
function mentioned(text: string, name: string, values: readonly string[]): string | undefined {
  const wordsOf = (value: string) => value.toLowerCase().split(/\W+/)
  const places = values.map(value => {
    const others = [name, ...values.filter(other => other !== value)].flatMap(wordsOf)
    const own = wordsOf(value).filter(word => !others.includes(word))
    return { value, at: Math.max(...own.map(word => lastPlace(text, `\\b${word}\\b`))) }
  })
  return places.filter(({ at }) => at >= 0).sort((left, right) => right.at - left.at)[0]?.value
}

function lastPlace(text: string, pattern: string): number {
  return [...text.matchAll(new RegExp(pattern, 'g'))].at(-1)?.index ?? -1
}

function lastNumber(text: string): number | undefined {
  const said = [...text.matchAll(new RegExp(`-?\\b\\d+\\b|\\b(?:${numbers.join('|')})\\b`, 'g'))].at(-1)?.[0]
  if (said === undefined) return undefined
  return numbers.includes(said) ? numbers.indexOf(said) + 1 : Number(said)
}

/** A field is answered where it is named, or by a bare yes or no when it is asked for. */
function yesOrNo(text: string, name: string, isAsked: boolean): boolean | undefined {
  if (new RegExp(`\\b(?:no|without|not)\\b[^,.]*\\b${name}\\b`).test(text)) return false
  if (new RegExp(`\\b${name}\\b`).test(text)) return true
  if (!isAsked) return undefined
  if (/^\W*(?:yes|yeah|sure|ok|please do|go ahead)\b/.test(text)) return true
  return /^\W*(?:no|nope|wait|stop)\b/.test(text) ? false : undefined
}

/** The day as it is on the calendar here, not in Greenwich. */
function isoDate(date: Date | undefined): string | undefined {
  if (date === undefined) return undefined
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
