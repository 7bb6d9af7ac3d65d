// A redactor holds text back until it cannot become a secret any more, however the model cuts it.
import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'

const agent = new Agent({
  name: 'ops',
  model: scriptedModel([{ text: ['The key is AK', 'IAIOSFODN', 'N7EXAMPLE, keep it.'] }]),
  outputProcessors: ['secret-redactor'],
})

const stream = agent.stream('What is the key?')
for await (const text of stream.textStream) console.log(JSON.stringify(text))
const { messages } = await stream.result
console.log(JSON.stringify(messages).includes('AKIA') ? 'it is in the messages' : 'it is nowhere')
