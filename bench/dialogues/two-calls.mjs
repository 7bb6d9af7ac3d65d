// The engine that this idea comes from: one call to extract, then one to speak for the steps of the batch. Its place moves on
// with every turn, any value counts as known, and the reply is made of the prompts of the steps that are satisfied.
import { isThere, plainEngine } from './plain.mjs'
import { readMessage } from './reader.mjs'

/** Makes the engine of one episode. */
export function twoCalls(episode, { rate, inventions }) {
  const { steps, route, data, tokensOf } = plainEngine(episode)
  const { required_slots: required, optional_slots: optional } = episode.intent
  const fields = [...new Set([...required, ...Object.keys(optional), 'confirmed'])]
  let place = 0
  return {
    data: () => data,
    turn(said, input, key) {
      const values = readMessage({ said, fields, rate, key, inventions })
      const { optionalFields } = route
      const extraction = tokensOf(steps, { task: 'read', input, output: { values }, optionalFields })
      const isConfirmed = () => data.confirmed === true
      // A key that the schema does not have is an exception: the turn is lost.
      if (Object.keys(values).some(name => !fields.includes(name))) {
        return { message: '', callCount: 1, tokenCount: extraction, isComplete: false, isConfirmed: isConfirmed() }
      }
      Object.assign(data, values)
      let end = place
      while (end < steps.length && steps[end].collect.some(field => isThere(data[field]))) end += 1
      const isBatch = end > place
      const spoken = steps.slice(place, isBatch ? end : place + 1)
      place += spoken.length
      const message = spoken.map(step => step.prompt).join('\n')
      const reply = tokensOf(spoken, { task: 'both', input, output: { values, message } })
      return {
        message,
        callCount: 2,
        tokenCount: extraction + reply,
        isComplete: spoken.length === 0 || (isBatch && place >= steps.length),
        isConfirmed: isConfirmed(),
      }
    },
  }
}
