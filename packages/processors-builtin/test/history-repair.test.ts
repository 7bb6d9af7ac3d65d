import { describe, expect, it } from 'vitest'
import type { MessageInput } from '@lockstep/message-list'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { historyRepair, type HistoryRepair } from '@lockstep/processors-builtin/history-repair'
import type { Processor } from '@lockstep/processors'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { apiError } from './api-error.ts'

const orphan = apiError(
  400,
  "Item 'fc_68' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68'.",
)

processorContract(() => historyRepair(), { scripts: [[orphan, 'It is noon.']] })

/** An answer with a call in the midst of it, as providers leave it behind. */
const history: readonly MessageInput[] = [
  { role: 'user', content: 'When?' },
  {
    role: 'assistant',
    content: [
      {
        type: 'reasoning',
        text: 'Hm.',
        providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } },
      },
      { type: 'reasoning', text: 'So.', providerOptions: { anthropic: { signature: 'abc' } } },
      { type: 'text', text: 'Let me see.', providerOptions: { openai: { itemId: 'msg_1', phase: 'commentary' } } },
      {
        type: 'tool-call',
        toolCallId: 'functions.look:0',
        toolName: 'look',
        input: {},
        providerOptions: { openai: { itemId: 'fc_1' } },
      },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'functions.look:0',
        toolName: 'look',
        output: { type: 'text', value: 'noon' },
      },
    ],
  },
  { role: 'assistant', content: 'At noon.' },
]

async function run(
  message: string,
  options: { readonly statusCode?: number; readonly others?: readonly Processor[] } = {},
) {
  const told: HistoryRepair[] = []
  const repair = historyRepair({ onRepair: event => told.push(event) })
  const look = { toolCalls: [{ toolName: 'lookup', input: {} }] }
  const { result, prompts } = await runWith(repair, {
    model: [apiError(options.statusCode ?? 400, message), look, 'Yes.'],
    history,
    modelSettings: { maxRetries: 0 },
    others: { inputProcessors: options.others ?? [] },
  })
  return {
    result,
    told: told.map(event => event.repair),
    prompts,
    texts: prompts.map(prompt => JSON.stringify(prompt)),
  }
}

describe('the history repair', () => {
  it.each([
    "Item 'fc_68' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68'.",
    "Item 'rs_68' of type 'reasoning' was provided without its required following item.",
    "Item with id 'rs_0b' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    'Duplicate item found with id rs_0d. Remove duplicate items from your input and try again.',
    'The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
  ])('sends what stored items say, without their ids: %s', async message => {
    const { result, told, texts } = await run(message)
    expect([result.text, told]).toEqual(['Yes.', ['item-references']])
    expect(texts[0]).toMatch(/rs_1.*msg_1.*fc_1/)
    for (const text of texts.slice(1)) {
      expect(text).not.toMatch(/rs_1|msg_1|fc_1|Hm\./)
      expect(text).toContain('Let me see.')
      expect(text).toContain('commentary')
      expect(text.match(/functions\.look:0/g)).toHaveLength(2)
    }
  })

  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.3.content.0: Invalid `data` in `redacted_thinking` block',
    'messages.1.content.5: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
  ])('leaves signed reasoning out: %s', async message => {
    const { told, texts } = await run(message)
    expect(told).toEqual(['reasoning-signatures'])
    for (const text of texts.slice(1)) expect([text.includes('So.'), text.includes('Hm.')]).toEqual([false, true])
  })

  it.each([
    "messages.0.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    'Tool call id was functions.look:0 but must be a-z, A-Z, 0-9, with a length of 9.',
    "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
  ])('gives tool calls ids that every provider takes: %s', async message => {
    const { told, prompts } = await run(message)
    expect(told).toEqual(['tool-call-ids'])
    const ids = prompts.map(prompt =>
      prompt.flatMap(({ content }) =>
        typeof content === 'string' ? [] : content.flatMap(part => ('toolCallId' in part ? [part.toolCallId] : [])),
      ),
    )
    expect(ids[0]).toEqual(['functions.look:0', 'functions.look:0'])
    expect(ids[2]).toHaveLength(4)
    for (const id of ids.slice(1).flat()) expect(id).toMatch(/^[a-z0-9]{9}$/)
    expect(ids[2]!.slice(0, 2)).toEqual(ids[1])
    expect(new Set(ids[2])).toHaveLength(2)
  })

  it.each([
    'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.',
    'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.',
    'No tool output found for function call call_1.',
    'No tool call found for function call output with call_id call_1.',
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    'Not the same number of function calls and responses',
  ])('leaves calls and results out that are alone: %s', async message => {
    /** A processor that breaks the pairs. */
    const careless: Processor = {
      id: 'careless',
      processLLMRequest: ({ prompt }) => ({
        prompt: [
          ...prompt.filter(({ role }) => role !== 'tool'),
          {
            role: 'tool',
            content: [
              { type: 'tool-result', toolCallId: 'lost', toolName: 'look', output: { type: 'text', value: '' } },
            ],
          },
        ],
      }),
    }
    const repair = historyRepair()
    const { prompts } = await runWith([careless, repair], {
      model: [apiError(400, message), 'Yes.'],
      history,
      modelSettings: { maxRetries: 0 },
    })
    expect(prompts.map(prompt => prompt.map(({ role }) => role).join(' '))).toEqual([
      'user assistant assistant user tool',
      'user assistant assistant user',
    ])
    expect(JSON.stringify(prompts[1])).not.toContain('tool-call')
    expect(JSON.stringify(prompts[1])).toContain('Let me see.')
  })

  it('keeps pairs, whatever is alone beside them', async () => {
    const { prompts } = await run('No tool output found for function call call_1.')
    expect(prompts[1]).toEqual(prompts[0])
  })

  it.each([
    'messages: text content blocks must be non-empty',
    'messages: text content blocks must contain non-whitespace text',
    'messages: final assistant content cannot end with trailing whitespace',
    'The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.',
  ])('leaves blank texts out: %s', async message => {
    const { prompts } = await runWith(historyRepair(), {
      model: [apiError(400, message), 'Yes.'],
      input: [
        { role: 'user', content: ' \n' },
        { role: 'user', content: 'Begin: ' },
        { role: 'assistant', content: 'Well, \n' },
      ],
      modelSettings: { maxRetries: 0 },
    })
    expect(prompts[1]!.map(({ content }) => (content as readonly { readonly text: string }[])[0]!.text)).toEqual([
      'Begin: ',
      'Well,',
    ])
  })

  it('leaves the conversation as it is', async () => {
    const { result } = await run("Item 'rs_68' of type 'reasoning' was provided without its required following item.")
    expect(JSON.stringify(result.messageList.get.all.db())).toMatch(/rs_1.*msg_1.*fc_1/)
  })

  it('tries each repair once, and another for another refusal', async () => {
    const signature = apiError(400, 'messages.1.content.0: Invalid `signature` in `thinking` block')
    const both = await runWith(historyRepair(), { model: [orphan, signature, 'Yes.'], history })
    expect([both.result.text, JSON.stringify(both.prompts[2])]).toEqual([
      'Yes.',
      expect.not.stringMatching(/rs_1|So\./),
    ])
    const lost = await runWith(historyRepair(), { model: [orphan, orphan], history })
    expect(lost.result).toMatchObject({ stopReason: 'error', error: orphan.error })
  })

  it('does not call again where prompts do not pass through it', async () => {
    const { result, prompts } = await runWith([], {
      model: [orphan],
      others: { errorProcessors: [historyRepair()] },
    })
    expect([result.stopReason, prompts.length]).toEqual(['error', 1])
  })

  it.each([
    ['a failure of the server', 500, 'Item with id rs_1 not found. Items are not persisted'],
    ['another refusal', 400, 'Invalid temperature.'],
    ['a missing model', 404, "The model 'gpt-9' does not exist."],
  ])('leaves %s alone', async (_, statusCode, message) => {
    const { result, prompts } = await run(message, { statusCode })
    expect([result.stopReason, prompts.length]).toEqual(['error', 1])
  })

  it('is a builtin that can be named', async () => {
    expect((await loadBuiltin('history-repair')).id).toBe('history-repair')
  })
})
