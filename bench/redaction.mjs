// What a redactor costs: a chunk of four characters through a chain of processors, and long hostile texts.
// From the built files: `npm run bench -- redaction`.
import { MessageList } from '../packages/message-list/dist/index.js'
import { ProcessorRunner, RequestContext } from '../packages/processors/dist/index.js'
import { redactor } from '../packages/processors-builtin/dist/redactor.js'
import { secretRedactor } from '../packages/processors-builtin/dist/secret-redactor.js'

const chainOf = outputProcessors =>
  new ProcessorRunner(
    { outputProcessors },
    {
      runId: 'run',
      list: new MessageList(),
      abortSignal: new AbortController().signal,
      requestContext: new RequestContext(),
      tracingContext: {},
      writeData: async () => {},
      callModel: () => Promise.reject(new Error('no model here')),
      resolveModel: () => undefined,
    },
  ).streamChain({ stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 })

const prose =
  'The quick brown fox jumps over the lazy dog, and then it does it again; 42 is the answer to everything (see chapter 7). '
const answer = prose.repeat(400) + 'Write to joe@example.com or pay with 4111 1111 1111 1111. '

const piecesOf = (text, length) => text.match(new RegExp(`[^]{1,${length}}`, 'g'))
const chunk = text => ({ type: 'text-delta', runId: 'run', from: 'AGENT', payload: { id: 't', text } })

/** The time of a chunk, the median of some rounds. */
function measure(processors, text, length = 4) {
  const pieces = piecesOf(text, length)
  const times = Array.from({ length: 9 }, () => {
    const chain = chainOf(processors())
    const chunks = pieces.map(chunk)
    const start = performance.now()
    for (const one of chunks) chain.pass(one)
    return ((performance.now() - start) * 1000) / pieces.length
  })
  return times.slice(2).sort((one, other) => one - other)[3]
}

const pass = { id: 'pass', processOutputStream: ({ part }) => part }
const named = (processor, id) => ({ ...processor, id })
const micros = value => `${value.toFixed(2)} µs`

console.log('a chunk of four characters of prose, through')
console.log('  a processor that passes it on   ', micros(measure(() => [pass], answer)))
console.log('  secret-redactor                 ', micros(measure(() => [secretRedactor()], answer)))
console.log('  redactor                        ', micros(measure(() => [redactor()], answer)))
const kinds = [['email', 'phone'], ['card', 'iban'], ['ip'], ['url']]
const five = () => [
  secretRedactor(),
  ...kinds.map((some, index) => named(redactor({ kinds: some }), `redactor-${index}`)),
]
console.log('  five redactors                  ', micros(measure(five, answer)))

console.log('a hundred thousand characters in pieces of 16, of')
for (const [what, unit] of [
  ['prose', prose],
  ['one letter', 'a'],
  ['dots', 'a.'],
  ['addresses', 'a@a.'],
  ['digits', '4'],
  ['digits apart', '4 '],
  ['plus signs', '+1 (0'],
  ['colons', 'a:'],
  ['first lines of keys', '-----BEGIN '],
  ['beginnings of keys', 'sk-ant-'],
  ['what is not seen', '\u200b'],
]) {
  const text = unit.repeat(Math.ceil(100_000 / unit.length)).slice(0, 100_000)
  const time = (measure(() => [redactor({ kinds: { url: 'redact' } })], text, 16) * (text.length / 16)) / 1000
  console.log(`  ${what.padEnd(32)} ${time.toFixed(0)} ms`)
}
