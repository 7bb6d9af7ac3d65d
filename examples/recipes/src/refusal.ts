// A tripwire ends the run. It throws nothing: the refusal is a value, and what was refused is kept there alone.
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'

const staffOnly: Processor = {
  id: 'staff-only',
  processOutputStep({ text, abort }) {
    if (text?.includes('STAFF')) abort('That is for staff.', { metadata: { rule: 7 } })
  },
}

const agent = new Agent({
  name: 'shop',
  model: scriptedModel([{ text: ['The code is ', 'STAFF-50.'] }]),
  outputProcessors: [staffOnly],
})

const stream = agent.stream('Is there a discount?')
let shown = ''
for await (const chunk of stream.fullStream) {
  if (chunk.type === 'text-delta') shown += chunk.payload.text
  if (chunk.type === 'step-reset') shown = ''
}
const { stopReason, tripwire, messages } = await stream.result
console.log({ shown, stopReason, stored: messages.length })
console.log(tripwire?.reason, tripwire?.metadata, `rejected: ${tripwire?.rejected.text}`)
