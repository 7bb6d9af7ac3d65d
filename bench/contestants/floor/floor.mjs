// The floor: a bare loop over the provider's stream, which calls the tool. It checks nothing, and nobody can step in.
import { languageModel } from '../../language-model.mjs'
import { historyOf } from '../../script.mjs'

export const lacks = {
  processors: 'a bare loop has no processors',
  readers: 'a bare loop has no processors',
  list: 'an array, and no form that is stored',
  installation: 'there is nothing to install',
}

export const prepare = work => historyOf(work.history)

export async function run(work, history, seen) {
  const model = languageModel(work)
  const prompt = [...history, { role: 'user', content: 'Go' }]
  for (let called = true; called;) {
    called = false
    const { stream } = await model.doStream({ prompt })
    const reader = stream.getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const part = read.value
      if (part.type === 'text-delta') seen.text(part.delta)
      if (part.type !== 'tool-call') continue
      called = true
      const output = seen.tool(JSON.parse(part.input))
      prompt.push({ role: 'assistant', content: [part] }, { role: 'tool', content: [{ ...part, output }] })
    }
  }
  return prompt
}
