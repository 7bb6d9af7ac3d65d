// Lockstep's batch executor: one call a turn that reads and replies.
import { BatchExecutor, createSession } from '../../packages/batch-executor/dist/index.js'
import { readMessage } from './reader.mjs'
import { agreementTo, serviceOf } from './service.mjs'

/** Plays the model: reads what was said, then speaks for the agenda as it believes things to be. */
function play(prompt, { said, rate, key, inventions, intent, known }) {
  // The user agrees to what was asked, whatever the field for that is called.
  const plain = field => (field === agreementTo(intent) ? 'confirmed' : field)
  const fields = Object.values(prompt.names).map(plain)
  const agendaOf = routeId =>
    (routeId === prompt.routeId ? prompt.agenda : prompt.others.find(one => one.routeId === routeId)?.agenda) ?? []
  const speak = lines => ({ message: lines.map(line => line.prompt).join('\n') })
  if (!('values' in prompt.schema.properties)) return speak(prompt.agenda)
  const values = readMessage({ said, fields, rate, key, inventions })
  const route = prompt.others.length > 0 ? intent.name.toLowerCase() : undefined
  const isKnown = field =>
    field === 'confirmed' ? values.confirmed === true : (values[field] ?? known[field]) !== undefined
  const agenda = agendaOf(route ?? prompt.routeId)
  const next = agenda.findIndex(line => line.type === 'ask' && line.fields.some(field => !isKnown(plain(field))))
  const spoken = agenda.filter((line, index) => (line.type === 'say' ? next < 0 || index < next : index === next))
  const wire = Object.fromEntries(
    Object.keys(prompt.names).map(name => [name, values[plain(prompt.names[name])] ?? null]),
  )
  return {
    ...(route !== undefined && { route }),
    values: { ...wire, ...(values.remark && { remark: values.remark }) },
    asks: next < 0 ? null : `${prompt.others.length > 0 ? `${route}/` : ''}${agenda[next].stepId}`,
    ...speak(spoken),
  }
}

/** Makes the engine of one episode. */
const engine =
  ({ speculate = true, routed = false, quoted = false }) =>
  (episode, { rate, inventions }) => {
    const executor = new BatchExecutor({ speculate })
    const routes = serviceOf(episode, quoted)
    const own = routes.get(episode.intent.name)
    const over = routed ? { routes: [...routes.values()] } : { route: own }
    let session = createSession({ fields: own.fields, id: episode.id, data: episode.known })
    return {
      data: () => session.data,
      async turn(said, input, key) {
        const callModel = prompt =>
          play(prompt, { said, rate, key, inventions, intent: episode.intent, known: session.data })
        const response = await executor.executeBatch({ ...over, session, input, callModel })
        session = response.session
        return {
          message: response.message,
          callCount: response.callCount,
          tokenCount: response.usage.inputTokens + response.usage.outputTokens,
          isComplete: response.stoppedReason === 'route_complete',
          isConfirmed: session.data[agreementTo(episode.intent)] === true,
        }
      },
    }
  }

export const batch = engine({})
export const batchTwoCalls = engine({ speculate: false })
export const batchRouted = engine({ routed: true })
export const batchQuoted = engine({ quoted: true })
