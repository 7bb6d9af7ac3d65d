// Episodes out of annotated dialogues: one service call each, with what its user said turn by turn and what has to come out.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** Reads a compacted Schema-Guided Dialogue file, and gives each service call that needs anything to be known. */
export function readEpisodes(path) {
  const { schemas, dialogues } = JSON.parse(gunzipSync(readFileSync(path)).toString())
  const episodes = dialogues.flatMap(dialogue => episodesOf(dialogue, schemas[dialogue.service]))
  return { dialogueCount: dialogues.length, episodes }
}

function episodesOf({ id, service, turns }, schema) {
  const episodes = []
  let before = {}
  let said = []
  for (const turn of turns) {
    if (turn.s === 'U') said.push(turn)
    else if (turn.c !== undefined) {
      const intent = schema.intents.find(({ name }) => name === turn.c.method)
      const gold = turn.c.parameters
      if (intent.required_slots.length > 0 && said.length > 0) {
        const own = said.slice(said.findIndex(({ i }) => i === intent.name))
        const known = own[0] === said[0] ? before : said[said.indexOf(own[0]) - 1].v
        const script = scriptOf(own, known, { gold, intent })
        episodes.push({ id: `${id}/${episodes.length}`, service, schema, intent, gold, ...script })
      }
      before = said.at(-1)?.v ?? before
      said = []
    }
  }
  return episodes
}

/**
 * What the user says: `known` from before, then one entry for each turn with the slots that it gave or changed.
 *
 * Only what ends up in the call counts. A value that the user changes later is said as it was first only where a
 * confirmation comes, so that the change is heard before the call is made. Where none comes, what nobody asks for is said
 * at once: there the call is made as soon as everything required is known.
 */
function scriptOf(turns, before, { gold, intent }) {
  const slots = Object.keys(gold)
  const isConfirmed = intent.is_transactional
  const known = Object.fromEntries(slots.filter(slot => before[slot] !== undefined).map(slot => [slot, gold[slot]]))
  const mentions = turns.map((turn, index) => {
    const earlier = index === 0 ? before : turns[index - 1].v
    const fresh = slots.filter(slot => turn.v[slot] !== undefined && !earlier[slot]?.includes(turn.v[slot][0]))
    return Object.fromEntries(fresh.map(slot => [slot, informed(turn, slot)]))
  })
  const last = Object.fromEntries(slots.map(slot => [slot, mentions.findLastIndex(one => slot in one)]))
  const script = mentions.map((one, index) => {
    const said = Object.entries(one).filter(([slot]) => index === last[slot] || isConfirmed)
    return Object.fromEntries(
      said.map(([slot, value]) => [slot, index === last[slot] ? gold[slot] : (value ?? gold[slot])]),
    )
  })
  const unasked = isConfirmed ? [] : slots.filter(slot => !intent.required_slots.includes(slot) && !(slot in known))
  const [first = {}, ...later] = script
  return { known, script: [{ ...first, ...Object.fromEntries(unasked.map(slot => [slot, gold[slot]])) }, ...later] }
}

/** The value in the form in which calls take it. */
const informed = (turn, slot) => turn.a.find(([act, name]) => act === 'INFORM' && name === slot)?.[2]?.[0]
