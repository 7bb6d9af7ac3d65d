// What the two other engines share: data without validation, and prompts that the same builder writes.
import { BatchPromptBuilder, createRoute, createSession, plan } from '../../packages/batch-executor/dist/index.js'
import { agreementTo, serviceOf, stepsOf } from './service.mjs'

const builder = new BatchPromptBuilder()

/** The steps of an episode as data, and what a call costs that leads through some of them. */
export function plainEngine(episode) {
  const route = serviceOf(episode).get(episode.intent.name)
  const data = { ...episode.known }
  const agreement = agreementTo(episode.intent)
  // These two know one field for all agreements.
  const unnamed = step => (step.id === 'confirm' ? { ...step, collect: ['confirmed'] } : step)
  const named = step => (step.id === 'confirm' ? { ...step, collect: [agreement] } : step)
  /** The tokens of a call: the prompt for these steps, which reads, replies or does both, and what comes back. */
  const tokensOf = (steps, { task, input, output, optionalFields = [] }) => {
    const part = createRoute({
      title: route.title,
      description: route.description,
      fields: route.fields,
      optionalFields,
      steps: steps.length > 0 ? steps.map(named) : [{ id: 'close', prompt: 'Say that all is done.' }],
    })
    const fresh = createSession({ fields: route.fields })
    const session = { ...fresh, asking: { routeId: part.id, stepId: 'confirm', fields: [agreement], saw: {} } }
    const prompt = builder.build({ session, route: part, plan: plan(session, part), input, task })
    return prompt.tokenCount + builder.countTokens(JSON.stringify(output))
  }
  return { steps: stepsOf(episode).map(unnamed), route, data, tokensOf }
}

export const isThere = value => value !== undefined && value !== null && value !== ''
