import { APICallError, RetryError } from 'ai'
import { describe, expect, it } from 'vitest'
import { AskDocsError } from '../src/errors.ts'
import { chooseModel } from '../src/model/choose-model.ts'
import { explainModelError } from '../src/model/explain-model-error.ts'

const chosen = (environment: Readonly<Record<string, string>>) => {
  const { model, label } = chooseModel(environment)
  return { provider: model.provider, modelId: model.modelId, label }
}

describe('choosing the model', () => {
  it('takes the embedded one when the environment names none', () => {
    expect(chosen({ OPENAI_API_KEY: 'key' })).toMatchObject({ provider: 'lockstep-examples', modelId: 'retrieval' })
    expect(chosen({ LOCKSTEP_MODEL: '' })).toMatchObject({ modelId: 'retrieval' })
  })

  it('takes a vendor and its model, slashes in the model included', () => {
    expect(chosen({ LOCKSTEP_MODEL: 'openai/gpt-x', OPENAI_API_KEY: 'key' })).toMatchObject({
      modelId: 'gpt-x',
      label: 'openai/gpt-x',
    })
    expect(chosen({ LOCKSTEP_MODEL: 'anthropic/a/b', ANTHROPIC_API_KEY: 'key' })).toMatchObject({ modelId: 'a/b' })
  })

  it('takes any name as it is when a server is given', () => {
    expect(chosen({ OPENAI_BASE_URL: 'http://localhost:1/v1', LOCKSTEP_MODEL: 'openai/gpt-x' })).toMatchObject({
      provider: 'openai-compatible.chat',
      modelId: 'openai/gpt-x',
      label: 'openai/gpt-x at http://localhost:1/v1',
    })
  })

  it.each([
    [{ LOCKSTEP_MODEL: 'gpt-x' }, 'LOCKSTEP_MODEL is "gpt-x", which names no known provider. Use openai/MODEL'],
    [{ LOCKSTEP_MODEL: 'constructor/x' }, 'LOCKSTEP_MODEL is "constructor/x", which names no known provider.'],
    [{ LOCKSTEP_MODEL: 'openai/' }, 'LOCKSTEP_MODEL is "openai/", which names no known provider.'],
    [
      { LOCKSTEP_MODEL: 'openai/gpt-x' },
      'OPENAI_API_KEY is not set. Set OPENAI_API_KEY to your key, or unset LOCKSTEP_MODEL',
    ],
    [{ LOCKSTEP_MODEL: 'anthropic/x', OPENAI_API_KEY: 'key' }, 'ANTHROPIC_API_KEY is not set.'],
    [
      { OPENAI_BASE_URL: 'http://localhost/v1' },
      'LOCKSTEP_MODEL is not. Set LOCKSTEP_MODEL to a model that the server has',
    ],
    [{ OPENAI_BASE_URL: 'localhost', LOCKSTEP_MODEL: 'x' }, 'OPENAI_BASE_URL is "localhost", which is no URL.'],
  ])('says what is wrong with %j and what to do', (environment, message) => {
    expect(() => chooseModel(environment)).toThrow(message)
    expect(() => chooseModel(environment)).toThrow(AskDocsError)
  })
})

describe('explaining a failed model call', () => {
  const failure = (statusCode?: number) =>
    new APICallError({ message: 'No', url: 'http://x/v1', requestBodyValues: {}, ...(statusCode && { statusCode }) })

  it.each([
    [failure(401), 'model-key-refused', 'openai/x refused the key (401): No.'],
    [failure(403), 'model-key-refused', 'openai/x refused the key (403): No.'],
    [failure(404), 'model-refused', 'Check the name of the model'],
    [failure(500), 'model-refused', 'openai/x answered with an error (500): No.'],
    [failure(), 'model-unreachable', 'openai/x cannot be reached (http://x/v1): No.'],
  ])('says what %s means', (error, code, message) => {
    const explained = explainModelError(error, 'openai/x')
    expect(explained).toMatchObject({ code, cause: error })
    expect(explained?.message).toContain(message)
  })

  it('finds the call inside wrappers, and nothing in other errors', () => {
    const retried = new RetryError({ message: 'm', reason: 'maxRetriesExceeded', errors: [failure(500), failure(401)] })
    const wrapped = new Error('outer', { cause: retried })
    expect(explainModelError(wrapped, 'x')).toMatchObject({ code: 'model-key-refused' })
    expect(explainModelError(new Error('other'), 'x')).toBeUndefined()
  })
})
