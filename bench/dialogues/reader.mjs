// The gold annotation in the part of the model: it reads what the user said, with as much noise as it is told to make.
import { chance } from './random.mjs'

/** How likely each mistake is. A rate of 0 reads perfectly. */
export const noises = { none: 0, some: 0.05, much: 0.15 }

/**
 * What a call reads out of a message: for each of the fields it may fill, the value said, or a mistake.
 *
 * Said values get dropped or have the wrong type; of the fields that were not said one may be invented; a key may be there
 * that nobody asked for.
 */
export function readMessage({ said, fields, rate, key, inventions }) {
  const values = {}
  for (const field of fields) {
    const isSaid = Object.hasOwn(said, field)
    const dice = chance(key, field)
    if (isSaid && field !== 'confirmed' && dice < rate) continue
    if (isSaid && field !== 'confirmed' && dice < 2 * rate) values[field] = { value: said[field] }
    else if (isSaid) values[field] = said[field]
  }
  const open = fields.filter(field => !Object.hasOwn(said, field) && field !== 'confirmed')
  const invented = open[Math.floor(chance(key, 'which') * open.length)]
  const choices = inventions[invented]
  if (choices !== undefined && chance(key, 'invent') < rate) {
    values[invented] = choices[Math.floor(chance(key, 'value') * choices.length)]
  }
  if (chance(key, 'extra') < rate) values.remark = 'none'
  return values
}
