// A run as `useChat` reads it: what a guard takes back is taken back in the page. examples/chat is the whole page.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { readUIMessageStream } from 'ai'

const noSecrets: Processor = {
  id: 'no-secrets',
  processOutputStep({ text, abort }) {
    if (text?.includes('secret')) abort('Keep it to yourself.', { retry: true })
  },
}
const agent = new Agent({
  name: 'host',
  model: scriptedModel(['The secret is salt.', 'It is a family recipe.']),
  outputProcessors: [noSecrets],
  maxProcessorRetries: 1,
})

const [wire, page] = agent.stream('What is in it?').toUIMessageStream().tee()
const types: string[] = []
for await (const chunk of wire) types.push(chunk.type)
console.log(types.join(' '))

let shown = ''
for await (const message of readUIMessageStream({ stream: page }))
  shown = message.parts.map(part => (part.type === 'text' ? part.text : '')).join('')
console.log(shown)
