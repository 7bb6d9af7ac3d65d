import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { TripWire, type Chunk, type Processor } from '@lockstep/processors'
import { BuiltinError, loadBuiltin } from '@lockstep/processors-builtin'
import { redactor, type Finding, type RedactorOptions } from '@lockstep/processors-builtin/redactor'
import { secretRedactor } from '@lockstep/processors-builtin/secret-redactor'
import { delta, inputDelta, pass, position, runOf, shownAfterEach, streamed, textOf } from './redactor-run.ts'
import { samples } from './samples.ts'
import { processorContract } from '@lockstep/testing/vitest'

processorContract(() => redactor(), {
  texts: ['Mail ann@example.com or call +49 30 901820.', 'Pay to DE89 3704 0044 0532 0130 00, from 192.168.0.1'],
  inputs: ['I am bob@example.com'],
  toolInputs: [{ to: 'carol@example.com' }],
  toolResults: [{ card: '4111 1111 1111 1111' }],
})

processorContract(() => redactor({ strategy: 'tokenize' }), {
  texts: ['Mail ann@example.com now.'],
  inputs: ['I am bob@example.com'],
  toolInputs: [{ to: 'carol@example.com' }],
})

const model = new MockLanguageModelV4()
const card = '4111 1111 1111 1111'
const key = samples.find(({ kind }) => kind === 'anthropic-key')!.text
const redacted = (text: string, options?: RedactorOptions) => streamed(redactor(options), [text])

describe('what a redactor finds', () => {
  it.each(samples.map(({ kind, text }) => [kind, text] as const))('finds a %s: %s', async (kind, text) => {
    const [before, after] = kind === 'url-password' ? ['db', 'host'] : [kind === 'terraform-token' ? 'id.' : '(', ') ']
    expect(await redacted(before + text + after, { kinds: [kind] })).toBe(`${before}[redacted ${kind}]${after}`)
  })

  it.each([
    ['a card number with a wrong check digit', '4111 1111 1111 1112'],
    ['sixteen digits of no network', '1234567812345670'],
    ['a number that is longer than any card', '41111111111111111111111'],
    ['an account number with wrong check digits', 'GB29 NWBK 6016 1331 9268 18'],
    ['a version with five numbers', 'v1.2.3.4.5 and 1.2.3.4.5'],
    ['an octet that is none', '192.168.1.256'],
    ['the time', 'at 12:30:45 and 08:15'],
    ['names of code', 'std::vector, a::b, ::before, Foo::Bar'],
    ['a hardware address', '00:1b:44:11:3a:b7'],
    ['dates', '2024-01-02, 02/01/2024, 02.01.2024, 2024-01-02T03:04:05.678Z'],
    ['small numbers', '1 2 3 4 5, 3.14159265358979, 1,000,000, 10-20, 2024'],
    ['an address without a domain', 'joe@localhost, @joe, joe@, a@b'],
    ['words with hyphens', 'sk-learn-and-other-words-with-hyphens-in-a-row'],
    ['a commit', '3f786850e387550fdab836ed7e6dc881de23001b'],
    ['a UUID', '550e8400-e29b-41d4-a716-446655440000'],
  ])('leaves %s alone', async (_what, text) => {
    expect(await redacted(text)).toBe(text)
  })

  it('reads what only looks different', async () => {
    expect(await redacted('４１１１ １１１１ １１１１ １１１１')).toBe('[redacted card]')
    expect(await redacted('٤١١١١١١١١١١١١١١١')).toBe('[redacted card]')
    expect(await redacted('joe\u200b@exam\u00adple.com\u200b!')).toBe('[redacted email]\u200b!')
    expect(await redacted('joe＠example。com')).toBe('[redacted email]')
    expect(await redacted(key.replace('a', 'а').replace('s', 'ѕ'))).toBe('[redacted anthropic-key]')
    expect(await redacted(`\u202e${key}\u202c`)).toBe('\u202e[redacted anthropic-key]\u202c')
    expect(await redacted('כתבו אל joe@example.com, תודה')).toBe('כתבו אל [redacted email], תודה')
  })

  it('replaces the union of matches that overlap', async () => {
    expect(await redacted(`https://x.org/?m=joe@example.com&k=${key} ok`, { kinds: { url: 'redact' } })).toBe(
      '[redacted url] ok',
    )
    expect(await redacted('a@b.co@c.com!')).toBe('[redacted email][redacted email]!')
  })

  it('finds all of a key without a last line, and no prose after it', async () => {
    const pem = samples.find(({ kind }) => kind === 'private-key')!.text
    const open = pem.slice(0, pem.indexOf('\nabc='))
    expect(await redacted(`${open}\n\nThat was it.`)).toBe('[redacted private-key]\n\nThat was it.')
    expect(await redacted('It begins with -----BEGIN PRIVATE KEY----- and goes on.')).toBe(
      'It begins with [redacted private-key] and goes on.',
    )
  })
})

describe('what a redactor holds', () => {
  it('shows what cannot become a match, one character after the other', async () => {
    expect(await shownAfterEach(secretRedactor(), 'so, sk-x'.split(''))).toEqual(
      // The `s` may begin a key.
      ['', 'so', 'so,', 'so, ', 'so, ', 'so, ', 'so, ', 'so, ', 'so, sk-x'],
    )
    expect((await shownAfterEach(redactor(), 'hi, joe'.split(''))).slice(0, -1)).toEqual([
      '',
      '',
      'hi,',
      'hi, ',
      'hi, ',
      'hi, ',
      'hi, ',
    ])
  })

  it('shows a match as soon as nothing can follow it', async () => {
    const shown = await shownAfterEach(secretRedactor(), [`AIza${'x'.repeat(34)}`, 'y', 'z'])
    expect(shown).toEqual(['', '[redacted google-key]', '[redacted google-key]z', '[redacted google-key]z'])
  })

  it('never shows a part of a match, whatever comes after it', async () => {
    for (const { text } of samples)
      for (const after of ['', ' ', '.', 'x', '\u200b', '"', '😀']) {
        const whole = await redacted(`:${text}${after}`, { kinds: { url: 'redact' } })
        const shown = await shownAfterEach(redactor({ kinds: { url: 'redact' } }), `:${text}${after}`.split(''))
        expect(shown.filter(part => !whole.startsWith(part))).toEqual([])
      }
  })

  it('does not hold what a provider says of a piece', async () => {
    const run = runOf(redactor({ kinds: ['email'] }))
    const providerMetadata = { google: { thoughtSignature: 'abc' } }
    const piece = { ...delta('joe'), payload: { id: 't', text: 'joe', providerMetadata } } as Chunk
    expect(await pass(run, piece)).toEqual([{ ...piece, payload: { id: 't', text: '', providerMetadata } }])
    expect(textOf(await pass(run, delta('@example.com is ')))).toBe('[redacted email] is ')
  })

  it('holds no more than it was told to', async () => {
    const processor = redactor({ maxLength: 100 })
    const text = `sk-ant-${'x'.repeat(5_000)} ${'y'.repeat(1_000)}@`
    let read = 0
    let out = ''
    const run = runOf(processor)
    for (const piece of text.match(/.{1,7}/g)!) {
      read += piece.length
      out += textOf(await pass(run, delta(piece)))
      expect(read - out.replaceAll('[redacted anthropic-key]', 'x'.repeat(100)).length).toBeLessThanOrEqual(101)
    }
  })

  it.each([
    ['one word', 'a'],
    ['one long number', '1'],
    ['digits apart', '4 '],
    ['dots', 'a.'],
    ['beginnings', '-----BEGIN '],
    ['addresses', 'a@a.'],
    ['domains', 'a@a.aa.'],
    ['colons', 'a:'],
    ['what is not seen', '\u200b'],
    ['tokens', 'eyJaaaaaa.'],
    ['keys of keys', 'sk-ant-'],
    ['plus signs', '+1 (0'],
  ])('reads a hundred thousand characters of %s', async (_what, unit) => {
    const text = unit.repeat(100_000 / unit.length)
    const shown = await streamed(redactor({ kinds: { url: 'redact' } }), text.match(/[^]{1,9}/g)!)
    expect(shown.length).toBeGreaterThan(0)
  })
})

describe('what a redactor does with it', () => {
  it('redacts, masks, hashes or leaves, by kind', async () => {
    const text = `joe@example.com pays with ${card} from 10.0.0.1, call +1 415 555 2671`
    expect(await redacted(text)).toBe(
      '[redacted email] pays with [redacted card] from [redacted ip], call [redacted phone]',
    )
    expect(await redacted(text, { strategy: 'mask', kinds: { ip: false } })).toBe(
      'j***@***.com pays with **** **** **** 1111 from 10.0.0.1, call +* *** *** **71',
    )
    expect(await redacted(text, { kinds: ['email'], strategy: 'hash', hashKey: 'k' })).toMatch(
      /^\[email [a-p]{16}\] pays with 4111/,
    )
    expect(await redacted(text, { replacement: kind => `(${kind})` })).toContain('(email) pays with (card)')
  })

  it('does the same to what it has done', async () => {
    for (const strategy of ['redact', 'mask', 'hash'] as const)
      for (const { text } of samples) {
        const once = await redacted(text, { strategy, hashKey: 'k', kinds: { url: strategy } })
        expect(await redacted(once, { strategy, hashKey: 'k', kinds: { url: strategy } })).toBe(once)
      }
  })

  it('gives the same digest for the same text and key, and another for another', async () => {
    const hash = (text: string, hashKey: string) => redacted(text, { strategy: 'hash', hashKey })
    expect(await hash('joe@x.com', 'k')).toBe(await hash('joe@x.com', 'k'))
    expect(await hash('joe@x.com', 'k')).not.toBe(await hash('joe@x.com', 'l'))
    expect(await hash('joe@x.com', 'k')).not.toBe(await hash('jim@x.com', 'k'))
    expect(() => redactor({ strategy: 'hash' })).toThrow("The strategy 'hash' has no key")
  })

  it('leaves what it was told is no secret', async () => {
    const allow = ['help@acme.com', /@example\.com$/]
    expect(await redacted('help@acme.com, joe@acme.com, joe@example.com', { allow })).toBe(
      'help@acme.com, [redacted email], joe@example.com',
    )
  })

  it('warns, and holds nothing for it', async () => {
    const findings: Finding[] = []
    const processor = redactor({
      kinds: [],
      patterns: [{ kind: 'word', pattern: /\bsecret\b/i, strategy: 'warn' }],
      onFinding: finding => findings.push(finding),
    })
    expect(await shownAfterEach(processor, 'The Secret.'.split(''))).toContain('The Secr')
    expect(findings).toEqual([{ kind: 'word', strategy: 'warn', where: 'text' }])
  })

  it('refuses what is blocked before any of it is shown, and says why without saying what', async () => {
    const run = runOf(redactor({ kinds: { card: 'block' } }))
    expect(textOf(await pass(run, delta(`card ${card.slice(0, 9)}`)))).toBe('card ')
    await pass(run, delta(card.slice(9)))
    const refusal = await pass(run, delta('. ')).catch((error: unknown) => error)
    expect(TripWire.isInstance(refusal) && [refusal.reason, refusal.metadata, refusal.retry]).toEqual([
      'The answer has something in it that must not pass (card). Leave it out.',
      { kind: 'card', strategy: 'block', where: 'text' },
      false,
    ])
  })

  it('refuses an input, and asks for another answer when it should', async () => {
    const run = runOf(redactor({ strategy: 'block', retry: true }))
    run.list.add(`My card is ${card}`, 'input')
    await expect(Promise.resolve().then(() => run.runner.runProcessInput(position))).rejects.toThrow('The input has')
    const refusal = await pass(run, delta(`${key} `)).catch((error: unknown) => error)
    expect(TripWire.isInstance(refusal) && refusal.retry).toBe(true)
  })

  it('names the kinds when one does not exist', () => {
    expect(() => redactor({ kinds: { e_mail: 'mask' } as never })).toThrow(
      "There is no kind 'e_mail'. The kinds are: private-key",
    )
    expect(() => redactor({ patterns: [{ kind: 'No Name', pattern: /x/ }] })).toThrow(BuiltinError)
  })

  it('takes a pattern of a known kind instead of its own', async () => {
    const patterns = [{ kind: 'phone', pattern: /\bext\. \d+/ }]
    expect(await redacted('(415) 555-2671, ext. 12', { patterns })).toBe('(415) 555-2671, [redacted phone]')
    expect(await redacted('ext. 12', { patterns, kinds: { phone: 'mask' } })).toBe('***. **')
  })
})

describe('where a redactor works', () => {
  it('edits the input, and nothing else of the conversation', async () => {
    const run = runOf(redactor())
    run.list.add({ id: 'old', role: 'user', content: 'old@example.com' } as never, 'memory')
    run.list.add([{ role: 'user', content: [{ type: 'text', text: 'I am joe@example.com' }] }], 'input')
    await run.runner.runProcessInput(position)
    expect(JSON.stringify(run.list.get.input.db())).toContain('I am [redacted email]')
    expect(JSON.stringify(run.list.get.remembered.db())).toContain('old@example.com')
  })

  it('keeps from the prompt what is in the conversation, and what it made of a message', async () => {
    const run = runOf(redactor())
    run.list.add(
      [
        { role: 'user', content: 'old@example.com' },
        { role: 'assistant', content: 'Hello' },
      ],
      'memory',
    )
    run.list.addSystem('Write to help@acme.com')
    const ask = async () =>
      (await run.runner.runProcessLLMRequest({ position, prompt: run.list.get.all.prompt(), settings: { model } }))
        .prompt
    const first = await ask()
    expect(first.map(({ content }) => content)).toMatchObject([
      'Write to help@acme.com',
      [{ text: '[redacted email]' }],
      [{ text: 'Hello' }],
    ])
    expect((await ask())[1]).toBe(first[1])
  })

  it('gives a tool and the reader what the model knows by a token only', async () => {
    const run = runOf(redactor({ kinds: { email: 'tokenize' }, restore: { tools: ['send'] } }))
    run.list.add('Write to joe@example.com and jim@example.com, then to joe@example.com', 'input')
    await run.runner.runProcessInput(position)
    const { prompt } = await run.runner.runProcessLLMRequest({
      position,
      prompt: run.list.get.all.prompt(),
      settings: { model },
    })
    expect(prompt[0]!.content).toMatchObject([{ text: 'Write to <email-1> and <email-2>, then to <email-1>' }])
    const call = (toolName: string) =>
      run.runner.runProcessToolCall({
        position,
        toolCall: { toolCallId: 'c', toolName, input: { to: ['<email-2>', '<email-9>'] } },
      })
    expect(await call('send')).toEqual({ type: 'run', input: { to: ['jim@example.com', '<email-9>'] } })
    expect(await call('log')).toEqual({ type: 'run', input: { to: ['<email-2>', '<email-9>'] } })
    let shown = ''
    for (const letter of 'Sent to <email-1>, <b> and <email-') shown += textOf(await pass(run, delta(letter)))
    expect(shown).toBe('Sent to joe@example.com, <b> and ')
    expect(textOf(await run.chain.flush('block-end', 't'))).toBe('<email-')
    expect(textOf(await pass(run, delta('<email-1> ', 'reasoning-delta', 'r')))).toBe('<email-1> ')
    expect(JSON.stringify(run.runner.save())).toContain('"<email-2>":"jim@example.com"')
  })

  it('leaves values that become tokens in what is stored, and tells of nothing in the prompt', async () => {
    const findings: Finding[] = []
    const onFinding = (finding: Finding) => findings.push(finding)
    const run = runOf(redactor({ kinds: { email: 'tokenize' }, onFinding }))
    run.list.add(`joe@example.com, ${card}`, 'memory')
    await run.runner.runProcessLLMRequest({ position, prompt: run.list.get.all.prompt(), settings: { model } })
    expect(findings).toEqual([])
    const outcome = await run.runner.runProcessToolResult({
      position,
      toolCall: { toolCallId: 'c', toolName: 'read', input: {} },
      outcome: { output: `joe@example.com, ${card}` },
    })
    expect(outcome).toEqual({ output: 'joe@example.com, [redacted card]' })
    expect(findings).toEqual([{ kind: 'card', strategy: 'redact', where: 'tool-output' }])
  })

  it('keeps tokens in the text when told to, also for what the model says by itself', async () => {
    expect(await redacted('a@b.com <email-1>', { kinds: { email: 'tokenize' }, restore: { text: false } })).toBe(
      '<email-1> <email-1>',
    )
  })

  it('redacts reasoning, the pieces of a tool call and the call', async () => {
    const run = runOf(redactor())
    expect(textOf(await pass(run, delta('joe@x.com ', 'reasoning-delta', 'r')))).toBe('[redacted email] ')
    let shown = ''
    const json = String.raw`{"to":"joe\u0040x.com","n":4111111111111111,"k":"a\\"}`
    for (const letter of json) shown += textOf(await pass(run, inputDelta(letter)))
    expect(shown).toBe(String.raw`{"to":"[redacted email]","n":"[redacted card]","k":"a\\"}`)
    const [call] = await pass(
      run,
      chunk('tool-call', { toolCallId: 'c', toolName: 'send', input: JSON.parse(json) as unknown }),
    )
    expect(call).toMatchObject({ payload: { input: { to: '[redacted email]', n: '[redacted card]' } } })
  })

  it('gives what it held of a tool call before its end', async () => {
    const run = runOf(redactor())
    await pass(run, inputDelta('{"a":"joe'))
    expect(await pass(run, chunk('tool-input-end', { id: 'c' }))).toMatchObject([
      { type: 'tool-input-delta', payload: { id: 'c', delta: 'joe' } },
      { type: 'tool-input-end' },
    ])
  })

  it('redacts what tools give, at any depth, and the names in it', async () => {
    const outcome = await runOf(redactor()).runner.runProcessToolResult({
      position,
      toolCall: { toolCallId: 'c', toolName: 'env', input: {} },
      outcome: { output: { lines: ['PATH=/bin', `KEY=${key}`], 'joe@x.com': 4111111111111111, when: null } },
    })
    expect(outcome).toEqual({
      output: {
        lines: ['PATH=/bin', 'KEY=[redacted anthropic-key]'],
        '[redacted email]': '[redacted card]',
        when: null,
      },
    })
  })

  it('redacts errors, sources, unknown parts and data of the application, and drops what is raw', async () => {
    const run = runOf(redactor())
    const error = new TypeError('no user joe@x.com')
    const failed = await pass(run, chunk('tool-error', { toolCallId: 'c', toolName: 't', input: {}, error }))
    expect(String((failed[0] as { payload: { error: unknown } }).payload.error)).toBe(
      'TypeError: no user [redacted email]',
    )
    expect(JSON.stringify(await pass(run, { type: 'data-note', data: { by: 'joe@x.com' } }))).toContain(
      '[redacted email]',
    )
    expect(JSON.stringify(await pass(run, chunk('unknown-part', { part: { type: 'x', by: 'joe@x.com' } })))).toContain(
      '[redacted email]',
    )
    expect(await pass(run, chunk('raw', { rawValue: 'joe@x.com' }))).toEqual([])
  })

  it('redacts the response that is stored', async () => {
    const run = runOf(redactor())
    run.list.add({ role: 'assistant', content: 'Ask joe@x.com' }, 'response')
    await run.runner.runProcessOutputResult(() => ({ position, own: { result: {} as never } }))
    expect(JSON.stringify(run.list.get.response.db())).toContain('Ask [redacted email]')
  })

  it('serves runs at the same time, and blocks of a run, without mixing them', async () => {
    const processor = redactor()
    const [one, other] = [runOf(processor), runOf(processor)]
    await pass(one, delta('joe@'))
    await pass(other, delta('jim@'))
    await pass(one, delta('x@', 'text-delta', 'u'))
    expect(textOf(await pass(other, delta('x.com ')))).toBe('[redacted email] ')
    expect(textOf(await one.chain.flush('block-end', 't'))).toBe('joe@')
    expect(textOf(await one.chain.flush('abort'))).toBe('x@')
  })

  it('begins anew after a block, whatever its id', async () => {
    const run = runOf(redactor())
    await pass(run, delta('word'))
    expect(textOf(await run.chain.flush('block-end', 't'))).toBe('word')
    expect(textOf(await pass(run, delta('joe@x.com ')))).toBe('[redacted email] ')
  })

  it('passes what it has nothing to do with as it came', async () => {
    const run = runOf(redactor())
    const same: readonly Chunk[] = [
      delta('Hello. '),
      chunk('text-start', { id: 'a' }),
      chunk('source', { source: { url: 'x' } }),
    ]
    for (const given of same) expect(await pass(run, given)).toEqual([given])
    expect(await pass(run, same[0]!)).toEqual([same[0]])
  })

  it('is a builtin that can be named', async () => {
    const processor: Processor = await loadBuiltin(['redactor', { kinds: { phone: 'mask' } }])
    expect([processor.id, await streamed(processor, ['+1 415 555 2671'])]).toEqual(['redactor', '+* *** *** **71'])
  })
})

function chunk(type: string, payload: object): Chunk {
  return { type, runId: 'run', from: 'AGENT', payload } as unknown as Chunk
}
