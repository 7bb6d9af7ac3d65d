// A schema as routes: required slots are asked, optional ones are taken when they are said, transactions are confirmed.
import { z } from 'zod'
import { createRoute, defineFields } from '../../packages/batch-executor/dist/index.js'

const schemaOf = ({ description, is_categorical: isCategorical, possible_values: values }) =>
  isCategorical && values.length > 0
    ? z.enum([...new Set([...values, 'dontcare'])]).describe(description)
    : z.string().min(1).describe(description)

/** The question for a slot; the brackets tell the simulated user what it is about. */
export const questionFor = slot => `What is the ${slot.description.toLowerCase()}? <${slot.name}>`
export const confirmation = 'Say what you have understood and ask whether that is right. <confirmed>'

/** The agreement to one intent: an agreement to another is another field. */
export const agreementTo = intent => `confirmed_${intent.name}`

/** The steps of an intent, as plain data: what each policy leads through. */
export function stepsOf({ schema, intent }) {
  const slots = new Map(schema.slots.map(slot => [slot.name, slot]))
  const asks = intent.required_slots.map(name => ({
    id: `ask-${name}`,
    prompt: questionFor(slots.get(name)),
    collect: [name],
  }))
  return intent.is_transactional
    ? [...asks, { id: 'confirm', prompt: confirmation, collect: [agreementTo(intent)] }]
    : asks
}

const services = new Map()

/** The routes of a service, made once; with `isQuoted`, free text has to be in the message that gives it. */
export function serviceOf({ service, schema }, isQuoted = false) {
  const key = `${service} ${isQuoted}`
  const made = services.get(key) ?? makeService(schema, isQuoted)
  services.set(key, made)
  return made
}

function makeService(schema, isQuoted) {
  const slots = Object.fromEntries(schema.slots.map(slot => [slot.name, schemaOf(slot)]))
  const freeSlots = schema.slots.filter(slot => !slot.is_categorical)
  const quoted = isQuoted ? Object.fromEntries(freeSlots.map(({ name }) => [name, { quoted: true }])) : {}
  const intents = schema.intents.filter(({ required_slots: required }) => required.length > 0)
  const agreements = Object.fromEntries(intents.map(intent => [agreementTo(intent), z.boolean()]))
  const confirms = intents
    .filter(intent => intent.is_transactional)
    .map(intent => [
      agreementTo(intent),
      { confirms: [...intent.required_slots, ...Object.keys(intent.optional_slots)] },
    ])
  const fields = defineFields({ ...slots, ...agreements }, { ...quoted, ...Object.fromEntries(confirms) })
  const routes = intents.map(intent => {
    const { name, description, required_slots: required, optional_slots: optional } = intent
    const optionalFields = Object.keys(optional).filter(slot => !required.includes(slot))
    const steps = stepsOf({ schema, intent })
    return [name, createRoute({ title: name, description, fields, optionalFields, steps })]
  })
  return new Map(routes)
}
