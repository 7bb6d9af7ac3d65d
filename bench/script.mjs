// What the model says in a work, whatever form a contestant wants it in, and what it was asked before.
export const word = 'word '

/** `user` and `assistant` in turn: the messages before the one that is asked. */
export const historyOf = count =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: `message ${index}`,
  }))

/** What the tool answers: a text of its own each time, as long as the work wants it. */
export const outputOf = ({ outputLength }, n) => Buffer.alloc(outputLength, `${n} `).toString('latin1')

/** How many characters are said in a work: inputs and outputs of the tool, and the answer. */
export const charactersSaid = ({ steps, deltas, outputLength }) =>
  steps * ('{"n":1}'.length + outputLength) + deltas * word.length

/** Where a model is in its script: `next()` is the number of the tool call to make, or undefined for the answer. */
export function turnsOf({ steps }) {
  let call = 0
  return { next: () => (call++ < steps ? call : undefined) }
}

/** A paced model gives one piece in each turn of the event loop, as a network would. */
export const nextTurn = () => new Promise(resolve => setImmediate(resolve))
