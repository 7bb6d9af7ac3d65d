// A processor that asks another model. Its tokens never reach the user; its usage is booked to it.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'

const judgeModel = scriptedModel(['rude', 'fine'], { modelId: 'judge' })
const judge: Processor = {
  id: 'judge',
  async processOutputStep({ text, abort, callModel }) {
    const verdict = await callModel({ model: judgeModel, prompt: `Is this rude or fine? ${text}` })
    if (verdict.text === 'rude') abort('Be kind.', { retry: true })
  },
}

const agent = new Agent({
  name: 'support',
  model: scriptedModel(['Read the manual.', 'It is on page 3 of the manual.']),
  outputProcessors: [judge],
  maxProcessorRetries: 1,
})
const { text, usage, totalUsage, trace } = await agent.generate('Where is it?')
console.log(text)
console.log(usage.totalTokens, 'tokens for the answer,', totalUsage.totalTokens, 'for all of it')
console.log(String(trace))
