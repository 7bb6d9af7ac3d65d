// The floor: a bare loop that reads the provider's stream and calls the tool. It keeps nothing and checks nothing.
import { scriptedModel } from '../works.mjs'

export async function run(work) {
  const model = scriptedModel(work)
  let text = ''
  for (let step = 0; step <= work.steps; step++) {
    const { stream } = await model.doStream()
    const reader = stream.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (value.type === 'text-delta') text += value.delta
      if (value.type === 'tool-call') JSON.parse(value.input)
    }
  }
  return text.length
}
