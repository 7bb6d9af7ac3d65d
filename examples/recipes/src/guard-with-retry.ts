// A guard looks at each answer before anyone may rely on it. It can have the step made again, and say why.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'

const noPromises: Processor = {
  id: 'no-promises',
  processOutputStep({ text, retryCount, abort }) {
    if (text?.includes('guarantee')) abort('Promise nothing: say what is usual.', { retry: retryCount < 2 })
  },
}

const model = scriptedModel(['We guarantee two days.', 'Two days is usual.'])
const agent = new Agent({ name: 'shop', model, outputProcessors: [noPromises], maxProcessorRetries: 2 })

const result = await agent.generate('When does it come?')
console.log(result.text)

// What the guard said reached the model as a system message of the second attempt, and only of that.
const [, second] = model.doStreamCalls
console.log(second?.prompt.map(message => `${message.role}: ${JSON.stringify(message.content)}`).join('\n'))
console.log(String(result.trace))
