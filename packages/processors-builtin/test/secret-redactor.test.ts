import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MessageList } from '@lockstep/message-list'
import { ProcessorRunner, RequestContext, type Chunk } from '@lockstep/processors'
import { secretRedactor } from '@lockstep/processors-builtin/secret-redactor'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { processorContract } from '@lockstep/testing/vitest'

processorContract(() => secretRedactor(), {
  texts: [
    {
      text: 'The key is sk-ant-abcdefghij0123456789, keep it.',
      shown: 'The key is [redacted anthropic-key], keep it.',
    },
  ],
  inputs: ['My key is ghp_0123456789abcdefghijABCDEFGHIJ012345.'],
  toolResults: [{ env: 'AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE' }],
})

const position = { stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 }

function runner() {
  return new ProcessorRunner(
    { outputProcessors: [secretRedactor()] },
    {
      runId: 'run',
      list: new MessageList(),
      abortSignal: new AbortController().signal,
      requestContext: new RequestContext(),
      tracingContext: {},
      writeData: () => Promise.resolve(),
      callModel: () => Promise.reject(new Error('no model here')),
      resolveModel: () => {
        throw new Error('no model here')
      },
    },
  )
}

/** What a reader sees of a text that is streamed in these pieces. */
async function streamed(pieces: readonly string[]): Promise<string> {
  const chain = runner().streamChain(position)
  const shown: Chunk[] = []
  for (const text of pieces) {
    const out = await chain.pass({ type: 'text-delta', runId: 'run', from: 'AGENT', payload: { id: 't', text } })
    shown.push(...[out ?? []].flat())
  }
  shown.push(...(await chain.flush('block-end', 't')))
  return shown.map(chunk => (chunk.type === 'text-delta' ? chunk.payload.text : '')).join('')
}

const key = `sk-ant-${'a1B2'.repeat(8)}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIE${'x'.repeat(40)}\nabc=\n-----END RSA PRIVATE KEY-----`
const bits = fc.constantFrom(
  key,
  pem,
  'AKIAIOSFODNN7EXAMPLE',
  'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  'PRIVATE KEY-----',
  '-----',
  'sk-ant-',
  'hello',
  ' ',
  '\n',
  '😀',
  '\ud83d',
  'é',
)
const texts = fc.array(bits, { maxLength: 12 }).map(parts => parts.join(''))

describe('the secret redactor', () => {
  it('replaces a key that is split over chunks, and never shows a part of it', async () => {
    expect(await streamed(['The key is sk-', 'ant-', key.slice(7, 20), key.slice(20), '. Keep it.'])).toBe(
      'The key is [redacted anthropic-key]. Keep it.',
    )
  })

  it('shows a text without secrets as it is', async () => {
    expect(await streamed(['Ordin', 'ary  text,\n', 'no secrets'])).toBe('Ordinary  text,\nno secrets')
  })

  it('gives the same text for any cut', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 20 }), async (text, cuts) => {
        const at = [...new Set(cuts.map(cut => cut % (text.length + 1)))].sort((a, b) => a - b)
        const pieces = [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length))
        const whole = await streamed([text])
        expect(await streamed(pieces)).toBe(whole)
        expect(await streamed(text.split(''))).toBe(whole)
        expect(whole).not.toContain('a1B2a1B2a1B2a1B2a1B2')
        expect(whole).not.toContain('MIIE')
      }),
      { numRuns: 2_000 },
    )
  })

  it('stays linear when a text never ends its word', async () => {
    const pieces = Array.from({ length: 20_000 }, () => 'abcdefghij')
    expect((await streamed(pieces)).length).toBe(200_000)
  })

  it('redacts what tools give, at any depth', async () => {
    const outcome = await runner().runProcessToolResult({
      position,
      toolCall: { toolCallId: 'c', toolName: 'env', input: {} },
      outcome: { output: { lines: ['PATH=/bin', `KEY=${key}`] } },
    })
    expect(outcome).toEqual({ output: { lines: ['PATH=/bin', 'KEY=[redacted anthropic-key]'] } })
  })

  it('is a builtin that can be named', async () => {
    const processor = await loadBuiltin(['secret-redactor', { replacement: () => '***' }])
    expect(processor.id).toBe('secret-redactor')
    await expect(loadBuiltin('secret-redacter' as never)).rejects.toThrow(
      "There is no builtin processor 'secret-redacter'. The builtins are: redactor, secret-redactor, budget,",
    )
  })
})
