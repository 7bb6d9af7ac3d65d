// Real dialogues, replayed: how many calls, tokens and turns it takes until a service call can be made, and whether its
// parameters are right. `node dialogues.mjs path/to/sgd-dev-compact.json.gz`
import { batch, batchQuoted, batchRouted, batchTwoCalls } from './dialogues/batch.mjs'
import { readEpisodes } from './dialogues/episodes.mjs'
import { oneStep } from './dialogues/one-step.mjs'
import { noises } from './dialogues/reader.mjs'
import { twoCalls } from './dialogues/two-calls.mjs'
import { askedIn, User, wordsOf } from './dialogues/user.mjs'

const maxTurns = 25
const policies = {
  'one call a step': oneStep,
  'two calls a turn, as before': twoCalls,
  'Lockstep, two calls': batchTwoCalls,
  Lockstep: batch,
  'Lockstep, with routing': batchRouted,
  'Lockstep, quoted fields': batchQuoted,
}

/** Leads one episode to its end and counts. */
async function runEpisode(episode, makeEngine, conditions) {
  const user = new User(episode)
  const engine = makeEngine(episode, conditions)
  const counts = {
    turns: 0,
    calls: 0,
    tokens: 0,
    knownAsked: 0,
    saidAsked: 0,
    silentTurns: 0,
    unfinished: 1,
    unconfirmed: 0,
  }
  let message = ''
  let transcript = ''
  while (counts.turns < maxTurns) {
    const said = user.answer(message, engine.data())
    const input = wordsOf(said)
    const turn = await engine.turn(said, input, `${episode.id}/${counts.turns}`)
    counts.turns += 1
    counts.calls += turn.callCount
    // Each call carries the conversation so far.
    counts.tokens += turn.tokenCount + turn.callCount * Math.ceil(transcript.length / 4)
    message = turn.message
    transcript += `${input}\n${message}\n`
    const asked = askedIn(message).filter(slot => slot !== 'confirmed')
    const data = engine.data()
    counts.knownAsked += asked.filter(slot => data[slot] !== undefined).length
    counts.saidAsked += asked.filter(slot => Object.hasOwn(user.said, slot)).length
    if (turn.isComplete) {
      counts.unfinished = 0
      counts.unconfirmed = episode.intent.is_transactional && !turn.isConfirmed ? 1 : 0
      break
    }
    counts.silentTurns += askedIn(message).length === 0 ? 1 : 0
  }
  return { ...counts, ...judge(episode, engine.data()) }
}

/** Compares the parameters that the call would have with those that it had. */
function judge({ gold, intent }, data) {
  const slots = Object.entries(gold)
  const final = slot => data[slot] ?? intent.optional_slots[slot]
  const right = slots.filter(([slot, value]) => final(slot) === value).length
  const wrong = slots.filter(([slot, value]) => final(slot) !== undefined && final(slot) !== value).length
  return {
    slots: slots.length,
    right,
    wrong,
    exact: right === slots.length ? 1 : 0,
    wrongAgreed: intent.is_transactional ? wrong : 0,
  }
}

function inventionsOf(episodes) {
  const values = {}
  for (const { gold } of episodes)
    for (const [slot, value] of Object.entries(gold)) (values[slot] ??= new Set()).add(value)
  return Object.fromEntries(Object.entries(values).map(([slot, set]) => [slot, [...set]]))
}

const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error(
    'Give the path of a compacted Schema-Guided Dialogue file: npm run bench -- dialogues path/to/file.json.gz',
  )
  process.exit(1)
}
const { episodes, dialogueCount } = readEpisodes(path)
const inventions = inventionsOf(episodes)
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`
console.log(
  `${episodes.length} service calls in ${dialogueCount} dialogues, ${episodes.reduce((sum, { gold }) => sum + Object.keys(gold).length, 0)} parameters\n`,
)
const failures = []
for (const [noise, rate] of Object.entries(noises)) {
  console.log(`### Noise: ${noise} (${percent(rate, 1)})\n`)
  console.log(
    '| engine | calls | per turn | tokens | turns | exact calls | right slots | wrong slots | of them after a yes | known asked again | said asked again | silent turns | made without a yes | unfinished |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|')
  for (const [name, makeEngine] of Object.entries(policies)) {
    const sum = {}
    for (const episode of episodes) {
      const counts = await runEpisode(episode, makeEngine, { rate, inventions })
      for (const [key, value] of Object.entries(counts)) sum[key] = (sum[key] ?? 0) + value
    }
    console.log(
      `| ${[name, sum.calls, (sum.calls / sum.turns).toFixed(2), sum.tokens, sum.turns, percent(sum.exact, episodes.length), percent(sum.right, sum.slots), percent(sum.wrong, sum.slots), sum.wrongAgreed, sum.knownAsked, sum.saidAsked, sum.silentTurns, sum.unconfirmed, sum.unfinished].join(' | ')} |`,
    )
    if (rate === 0 && sum.exact !== episodes.length) failures.push(`${name} is not exact without noise.`)
    if (name.startsWith('Lockstep') && sum.knownAsked + sum.silentTurns + sum.wrongAgreed + sum.unconfirmed > 0)
      failures.push(`${name} asked what it knew or nothing, or called what was not agreed to, with noise: ${noise}.`)
  }
  console.log('')
}
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
