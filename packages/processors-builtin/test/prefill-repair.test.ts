import { APICallError } from 'ai'
import { describe, expect, it } from 'vitest'
import { runWith, userSays } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { prefillRepair } from '@lockstep/processors-builtin/prefill-repair'

const refusal = (message: string, statusCode = 400) => ({
  error: new APICallError({
    message,
    statusCode,
    url: 'https://example.test',
    requestBodyValues: {},
    isRetryable: false,
  }),
})
const anthropic = refusal(
  'This model does not support assistant message prefill. The conversation must end with a user message.',
)
/** The user begins the assistant's answer. */
const prefilled = [
  { role: 'user' as const, content: 'Give me JSON.' },
  { role: 'assistant' as const, content: '{"answer":' },
]
const rolesOf = (prompt: readonly { readonly role: string }[]) => prompt.map(({ role }) => role)

processorContract(() => prefillRepair(), {
  skip: [{ law: 'acts', reason: 'it acts on conversations that end with the assistant, and a contract has none' }],
})

describe('the prefill repair', () => {
  it.each([
    ['Anthropic', anthropic],
    [
      'Mistral',
      refusal('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant'),
    ],
    ['Perplexity', refusal('Last message must have role `user`.')],
    ['Google', refusal('Please ensure that multiturn requests end with a user role or a function response.')],
    ['Bedrock', refusal('The conversation must end with a user message.', 422)],
  ])('ends the conversation with the user where %s wants that, and the retry succeeds', async (_, refused) => {
    const { result, prompts } = await runWith(prefillRepair(), { model: [refused, '42}'], input: prefilled })
    expect(result).toMatchObject({ stopReason: 'completed', text: '42}' })
    expect(prompts.map(rolesOf)).toEqual([
      ['user', 'assistant'],
      ['user', 'assistant', 'user'],
    ])
    expect(prompts[1]!.at(-1)).toMatchObject({ content: [{ text: 'Continue.' }] })
  })

  it('says what it is told to, as context, which is neither input nor response', async () => {
    const repair = await loadBuiltin(['prefill-repair', { message: 'Go on.' }])
    const { result } = await runWith(repair, { model: [anthropic, '42}'], input: prefilled })
    const { get } = result.messageList
    expect(JSON.stringify(get.context.db())).toContain('Go on.')
    expect(JSON.stringify([get.input.db(), result.messages])).not.toContain('Go on.')
  })

  it('tries once: a provider that refuses again has another reason', async () => {
    const { result, prompts } = await runWith(prefillRepair(), { model: [anthropic, anthropic], input: prefilled })
    expect(result).toMatchObject({ stopReason: 'error', error: anthropic.error })
    expect(prompts).toHaveLength(2)
  })

  it.each([
    ['another refusal', refusal('Invalid temperature.'), prefilled],
    ['a failure of the server', refusal('This model does not support prefill.', 500), prefilled],
    ['an error that is no object', { error: 'prefill' }, prefilled],
    ['a conversation that ends with the user', anthropic, [userSays('Hi')]],
  ])('leaves %s alone', async (_, turn, input) => {
    const { result, prompts } = await runWith(prefillRepair(), {
      model: [turn],
      input,
      modelSettings: { maxRetries: 0 },
    })
    expect(result.stopReason).toBe('error')
    expect(prompts).toHaveLength(1)
  })
})
