// Several questions answered by one message take one model call: the plan says, without a model, what is still open.
import { createRoute, createSession, defineFields, describePlan, plan, setValues } from '@lockstep/batch-executor'
import { z } from 'zod'

const fields = defineFields(z.object({ hotel: z.string(), date: z.string(), guests: z.number().int().min(1) }))
const booking = createRoute({
  title: 'Booking',
  fields,
  steps: [
    { id: 'ask-hotel', prompt: 'Which hotel?', collect: ['hotel'] },
    { id: 'ask-date', prompt: 'What date?', collect: ['date'] },
    { id: 'ask-guests', prompt: 'How many guests?', collect: ['guests'] },
  ],
})

const said = { hotel: 'Grand Hotel', date: 'Friday' }
const { session } = setValues(createSession({ fields }), said, { fields, source: 'message' })
const next = plan(session, booking)
console.log(describePlan(next))
console.log(next.ask?.prompt)
