// An object instead of text: typed, checked, and repaired once when the model gets it wrong.
import { Agent } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { z } from 'zod'

const schema = z.object({ city: z.string(), nights: z.number().int().positive() })
const model = scriptedModel(['{"city":"Rome","nights":"three"}', '{"city":"Rome","nights":3}'])
const agent = new Agent({ name: 'booker', model })

const { object, text } = await agent.generate('Three nights in Rome', { structuredOutput: { schema } })
console.log(object?.city, (object?.nights ?? 0) + 1, text)

// The second call carried what was wrong with the first answer.
const feedback = model.doStreamCalls[1]?.prompt.find(message => message.role === 'system')
console.log(String(feedback?.content).split('\n').at(-1))
