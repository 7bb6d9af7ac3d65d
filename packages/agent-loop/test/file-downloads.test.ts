import { finishPart, scriptedModel, streamOf } from '@lockstep/agent-loop/testing'
import { MessageList } from '@lockstep/message-list'
import { tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drain } from './drained.ts'

const asking = (...urls: readonly string[]) =>
  new MessageList().add(
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        ...urls.map(url => ({ type: 'file' as const, data: new URL(url), mediaType: 'image/png' })),
      ],
    },
    'input',
  )

const echo = tool({ inputSchema: z.object({}), execute: () => 'ok' })
const twoSteps = () => scriptedModel([{ toolCalls: [{ toolName: 'echo', input: {} }] }, 'A cat.'])

describe('a file that is given by address', () => {
  it('is downloaded once for the run when the provider cannot fetch it', async () => {
    const asked: string[] = []
    const download = ({ url }: { readonly url: URL }) => {
      asked.push(url.href)
      return Promise.resolve({ data: new Uint8Array([1, 2]), mediaType: 'image/png' })
    }
    const model = twoSteps()
    const { result } = await drain({
      model,
      download,
      tools: { echo },
      messageList: asking('https://example.com/cat.png'),
    })
    expect(result.text).toBe('A cat.')
    expect(asked).toEqual(['https://example.com/cat.png'])
    for (const { prompt } of model.doStreamCalls)
      expect(prompt[0]).toMatchObject({
        content: [{}, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2]) } }],
      })
    expect(JSON.stringify(result.messageList.toJSON())).toContain('https://example.com/cat.png')
  })

  it('is left to the provider that can fetch it', async () => {
    const model = new MockLanguageModelV4({
      supportedUrls: Promise.resolve({ 'image/*': [/^https:\/\/cdn\./] }),
      doStream: () => Promise.resolve({ stream: streamOf([finishPart('stop')]) }),
    })
    const asked: string[] = []
    const download = ({ url }: { readonly url: URL }) => {
      asked.push(url.href)
      return Promise.resolve({ data: new Uint8Array(), mediaType: undefined })
    }
    await drain({
      model,
      download,
      messageList: asking('https://cdn.example.com/a.png', 'https://www.example.com/b.png'),
    })
    expect(asked).toEqual(['https://www.example.com/b.png'])
    expect(model.doStreamCalls[0]!.prompt[0]).toMatchObject({
      content: [{}, { data: { type: 'url' } }, { data: { type: 'data' } }],
    })
  })

  it('fails the run when it cannot be had, and does not outlive an abort', async () => {
    const lost = await drain({
      model: scriptedModel(['x']),
      download: () => Promise.reject(new Error('404')),
      messageList: asking('https://example.com/a.png'),
    })
    expect(lost.result).toMatchObject({ stopReason: 'error', error: { message: '404' } })
    const controller = new AbortController()
    const download = () => {
      setImmediate(() => controller.abort(new Error('enough')))
      return new Promise<never>(() => {})
    }
    const stopped = await drain({
      model: scriptedModel(['x']),
      download,
      abortSignal: controller.signal,
      messageList: asking('https://example.com/a.png'),
    })
    expect(stopped.result).toMatchObject({ stopReason: 'aborted', abortReason: { message: 'enough' } })
  })
})
