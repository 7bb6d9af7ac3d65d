// One call for each step: it reads the answer to its own question and asks the next, and what else was said is lost. It has a
// step for each slot that the call will have.
import { isThere, plainEngine } from './plain.mjs'
import { readMessage } from './reader.mjs'
import { questionFor } from './service.mjs'

/** Makes the engine of one episode. It keeps its place in the route and knows only what its steps have read. */
export function oneStep(episode, { rate, inventions }) {
  const { steps, data, tokensOf } = plainEngine(episode)
  const { gold, intent, schema } = episode
  const optional = schema.slots.filter(({ name }) => name in gold && name in intent.optional_slots)
  const asks = optional.map(slot => ({ id: `ask-${slot.name}`, prompt: questionFor(slot), collect: [slot.name] }))
  const all = [...steps.filter(({ id }) => id !== 'confirm'), ...asks, ...steps.filter(({ id }) => id === 'confirm')]
  const isDone = step =>
    step.collect.every(field => (field === 'confirmed' ? data[field] === true : isThere(data[field])))
  let asked
  return {
    data: () => data,
    turn(said, input, key) {
      const reads =
        asked === undefined ? [] : asked.id === 'confirm' ? all.flatMap(step => step.collect) : asked.collect
      const values = readMessage({ said, fields: reads, rate, key, inventions })
      for (const field of reads) if (['string', 'boolean'].includes(typeof values[field])) data[field] = values[field]
      const next = all.find(step => !isDone(step))
      const spoken = asked === undefined || next === asked ? [next] : [asked, next]
      const message = next?.prompt ?? ''
      const tokenCount = tokensOf(spoken.filter(Boolean), { input, output: { values, message } })
      asked = next
      return { message, callCount: 1, tokenCount, isComplete: next === undefined, isConfirmed: data.confirmed === true }
    },
  }
}
