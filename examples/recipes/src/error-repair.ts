// When the model call fails, a processor may repair the conversation or choose another model, and have the step made again.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'

const small = scriptedModel([{ error: new Error('maximum context length is 3 messages') }], { modelId: 'small' })
const large = scriptedModel(['I have read all of it.'], { modelId: 'large' })

const fallback: Processor = {
  id: 'fallback',
  processAPIError({ error }) {
    const tooLong = error instanceof Error && error.message.includes('maximum context length')
    return tooLong ? { retry: true, model: large } : undefined
  },
}

const agent = new Agent({ name: 'reader', model: small, errorProcessors: [fallback] })
const { text, trace } = await agent.generate(['One', 'Two', 'Three', 'Four'])
console.log(text)
console.log(String(trace))
