// The files of a new package that are about its processor: a small one that works, and its test.
import type { ProcessorName } from './processor-name.ts'

/** The files by their paths. */
export function processorFiles(name: ProcessorName): Readonly<Record<string, string>> {
  return { [`src/${name.id}.ts`]: source(name), [`test/${name.id}.test.ts`]: test(name) }
}

function source({ id, functionName, typeName }: ProcessorName): string {
  return String.raw`// Takes words out of what a model says, however the text is cut on the way.
import type { Chunk, Processor } from '@lockstep/processors'

export interface ${typeName}Options {
  /** The words to take out, in upper or lower case. */
  readonly words: readonly string[]
  /** What stands in their place: '***' when absent. */
  readonly replacement?: string
}

/** What the processor keeps of a run: plain JSON, so that a run can be put down and taken up again. */
export interface ${typeName}State {
  /** The last word of each block, as long as it may go on. */
  held: { [blockId: string]: TextDelta }
}

type TextDelta = Extract<Chunk, { readonly type: 'text-delta' }>

const word = /[\p{L}\p{M}\p{N}_]+/gu
// Half of a surrogate pair may become a letter.
const lastWord = /[\p{L}\p{M}\p{N}\p{Surrogate}_]*$/u

/** A processor for outputProcessors. One instance may serve any number of runs. */
export function ${functionName}({ words, replacement = '***' }: ${typeName}Options): Processor<'${id}', unknown, ${typeName}State> {
  const unwanted = new Set(words.map(one => one.toLowerCase()))
  const clean = (text: string) =>
    text.replaceAll(word, found => (unwanted.has(found.toLowerCase()) ? replacement : found))

  return {
    id: '${id}',

    processOutputStream({ part, state }) {
      if (part.type !== 'text-delta') return part
      const held = (state.held ??= {})
      const { id, text } = part.payload
      const all = (held[id]?.payload.text ?? '') + text
      const end = all.search(lastWord)
      held[id] = withText(part, all.slice(end))
      return end === 0 ? null : withText(part, clean(all.slice(0, end)))
    },

    // At the end of a block, and of all blocks: nothing goes on, so nothing is held any more.
    flush({ blockId, state }) {
      const held = state.held ?? {}
      const ids = blockId === undefined ? Object.keys(held) : [blockId]
      return ids.flatMap(id => {
        const rest = held[id]
        delete held[id]
        return rest === undefined || rest.payload.text === '' ? [] : [withText(rest, clean(rest.payload.text))]
      })
    },
  }
}

// What a hook is given is frozen: a changed chunk is a new one.
function withText(part: TextDelta, text: string): TextDelta {
  return { ...part, payload: { ...part.payload, text } }
}
`
}

function test({ id, functionName }: ProcessorName): string {
  return `import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { expect, it } from 'vitest'
import { ${functionName} } from '../src/${id}.ts'

const make = () => ${functionName}({ words: ['darn', 'heck'] })

// The laws that every processor keeps. Give texts on which yours acts, and what has to be shown of them.
processorContract(make, {
  texts: [
    { text: 'Darn it, what the heck?', shown: '*** it, what the ***?' },
    { text: 'I darned a sock.', shown: 'I darned a sock.' },
    'heck',
  ],
})

it('takes out a word that comes in pieces', async () => {
  const { screen, result } = await runWith(make(), { model: [{ text: ['Oh, d', 'ar', 'n it.'] }] })
  expect(screen).toBe('Oh, *** it.')
  expect(result.text).toBe('Oh, *** it.')
})

it('puts in its place what it is told to', async () => {
  const processor = ${functionName}({ words: ['darn'], replacement: 'dear' })
  expect((await runWith(processor, { model: ['Oh darn.'] })).screen).toBe('Oh dear.')
})
`
}
