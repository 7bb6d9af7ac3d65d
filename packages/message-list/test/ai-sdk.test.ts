import { generateText, tool, validateUIMessages, type ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { list, newList } from './arbitraries.ts'
import { expectFrozen, toolOf } from './reading.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const speaker = () =>
  new MockLanguageModelV4({
    // The model fetches every address itself, so the SDK downloads nothing.
    supportedUrls: { '*': [/.*/] },
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'Done.' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage,
      warnings: [],
    }),
  })

describe('the AI SDK', () => {
  it('answers any list, and gets the prompt that the list makes itself', () =>
    fc.assert(
      fc.asyncProperty(list, async base => {
        const given = base.fork().add('Go on.', 'input')
        const model = speaker()
        await generateText({ model, messages: given.get.all.model() })
        const [call] = model.doGenerateCalls
        const prompt = given.get.all.prompt()
        // The SDK lets a conversation begin with the assistant.
        const asked = given.get.all.model()[0]?.role === 'assistant' ? prompt.slice(1) : prompt
        expect(JSON.parse(JSON.stringify(call!.prompt))).toEqual(JSON.parse(JSON.stringify(asked)))
        given.getMessages().forEach(message => expectFrozen(message))
      }),
    ))

  it('runs a call that was approved, and its response goes back into the list', async () => {
    const given = newList().add('Delete it.', 'memory')
    given.add(
      {
        id: 'a',
        role: 'assistant',
        parts: [{ type: 'tool-rm', toolCallId: 'x', state: 'input-available', input: { file: 'a' } }],
      },
      'memory',
    )
    given.updateTool('x', { state: 'approval-requested', approval: { id: 'ap' } })
    given.updateTool('x', { state: 'approval-responded', approval: { id: 'ap', approved: true } })
    const ran: string[] = []
    const rm = tool({ inputSchema: z.object({ file: z.string() }), execute: ({ file }) => `removed ${ran.push(file)}` })
    const { responseMessages } = await generateText({
      model: speaker(),
      messages: given.get.all.model(),
      tools: { rm },
    })
    given.add(responseMessages as ModelMessage[], 'response')
    expect(ran).toEqual(['a'])
    expect(toolOf(given, 'x')).toMatchObject({
      state: 'output-available',
      output: 'removed 1',
      approval: { approved: true },
    })
    expect(given.getMessages().at(-1)!.content.parts.at(-1)).toMatchObject({ type: 'text', text: 'Done.' })
    await validateUIMessages({ messages: given.get.all.ui(), tools: { rm } as never })
  })
})
