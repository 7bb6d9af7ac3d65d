// What the processors of texts cost: a chunk of four characters of prose, and a hundred thousand characters of hostile ones.
// From the built files: `npm run bench -- texts`.
import { MessageList } from '../packages/message-list/dist/index.js'
import { ProcessorRunner, RequestContext } from '../packages/processors/dist/index.js'
import { exfiltrationLinks } from '../packages/processors-builtin/dist/exfiltration-links.js'
import { maxOutput } from '../packages/processors-builtin/dist/max-output.js'
import { promptScrubber } from '../packages/processors-builtin/dist/prompt-scrubber.js'
import { redactor } from '../packages/processors-builtin/dist/redactor.js'
import { unicodeNormalizer } from '../packages/processors-builtin/dist/unicode-normalizer.js'

const chainOf = outputProcessors => {
  const list = new MessageList()
  list.addSystem(prose.repeat(40))
  return new ProcessorRunner(
    { outputProcessors },
    {
      runId: 'run',
      list,
      abortSignal: new AbortController().signal,
      requestContext: new RequestContext(),
      tracingContext: {},
      writeData: async () => {},
      callModel: () => Promise.reject(new Error('no model here')),
      resolveModel: () => undefined,
    },
  ).streamChain({ stepNumber: 0, attemptNumber: 0, steps: [], retryCount: 0 })
}

const prose =
  'The quick brown fox jumps over the lazy dog, and then it does it again; 42 is the answer to everything (see chapter 7). '
const russian = 'Съешь ещё этих мягких французских булок, да выпей же чаю; и так каждый день. '
const answer = 'A train leaves at noon; whoever is late takes the bus at one, or walks (it is not far). '.repeat(500)

const piecesOf = (text, length) => text.match(new RegExp(`[^]{1,${length}}`, 'g'))
const chunk = text => ({ type: 'text-delta', runId: 'run', from: 'AGENT', payload: { id: 't', text } })

/** The time of a chunk, the median of some rounds. */
function measure(processor, text, length = 4) {
  const pieces = piecesOf(text, length)
  const times = Array.from({ length: 9 }, () => {
    const chain = chainOf([processor()].flat())
    const chunks = pieces.map(chunk)
    const start = performance.now()
    for (const one of chunks) chain.pass(one)
    return ((performance.now() - start) * 1000) / pieces.length
  })
  return times.slice(2).sort((one, other) => one - other)[3]
}

const processors = {
  'a processor that passes it on': () => ({ id: 'pass', processOutputStream: ({ part }) => part }),
  'unicode-normalizer': () => unicodeNormalizer({ stream: true }),
  'prompt-scrubber': () => promptScrubber(),
  'exfiltration-links': () => exfiltrationLinks(),
  'max-output': () => maxOutput({ words: 20_000 }),
  'max-output in tokens': () => maxOutput({ tokens: 50_000 }),
  'all four and the redactor': () => [
    unicodeNormalizer({ stream: true }),
    redactor(),
    promptScrubber(),
    exfiltrationLinks(),
    maxOutput({ words: 20_000 }),
  ],
}
const hostile = {
  'exfiltration-links': ['a', 'src=', '](', 'https://', '&#9', 'url( '],
  'prompt-scrubber': [prose, 'The quick bro', 'o', ' '],
  'unicode-normalizer': ['\u200d', 'e\u0301', 'аa', '`', '🏴\u{e0067}'],
}

for (const [name, text] of [
  ['English', answer],
  ['Russian', russian.repeat(500)],
]) {
  console.log(`a chunk of four characters of ${name} prose, through`)
  for (const [what, processor] of Object.entries(processors))
    console.log(`  ${what.padEnd(32)} ${measure(processor, text).toFixed(2)} µs`)
}
console.log('a hundred thousand characters in pieces of 16, through')
for (const [what, units] of Object.entries(hostile))
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(100_000 / unit.length)).slice(0, 100_000)
    const time = (measure(processors[what], text, 16) * (text.length / 16)) / 1000
    console.log(`  ${what} ${JSON.stringify(unit.slice(0, 12)).padEnd(16)} ${time.toFixed(0)} ms`)
  }
