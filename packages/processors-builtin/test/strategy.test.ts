import { loadBuiltin, type BuiltinChoice } from '@lockstep/processors-builtin'
import { expect, it } from 'vitest'

it.each([
  ['redactor', { strategy: 'hide' }, "The strategy of 'private-key' is 'hide'. Give one of redact, mask, hash"],
  ['redactor', { kinds: { email: 'hide' } }, "The strategy of 'email' is 'hide'."],
  ['redactor', { kinds: { email: true } }, "The strategy of 'email' is 'true'."],
  ['redactor', { patterns: [{ kind: 'order', pattern: /x/, strategy: 'hide' }] }, "The strategy of 'order' is 'hide'."],
  ['secret-redactor', { strategy: 'remove' }, "is 'remove'. Give one of redact"],
  ['moderation', { strategy: 'refuse' }, "The strategy of 'hate' is 'refuse'. Give one of block, redact, warn."],
  ['language', { allow: ['en'], strategy: 'refuse' }, "The strategy of 'language' is 'refuse'."],
  [
    'max-output',
    { words: 5, strategy: 'cut' },
    "The strategy of 'max-output' is 'cut'. Give one of truncate, end, block.",
  ],
  ['prompt-scrubber', { strategy: 'mask' }, "The strategy of 'prompt-scrubber' is 'mask'."],
  [
    'exfiltration-links',
    { strategy: 'redact' },
    "The strategy of 'exfiltration-links' is 'redact'. Give one of remove",
  ],
])('%s refuses a strategy that means nothing: %j', async (name, options, message) => {
  const choice = [name, options] as unknown as BuiltinChoice
  await expect(loadBuiltin(choice)).rejects.toMatchObject({
    code: 'invalid-strategy',
    message: expect.stringContaining(message) as string,
  })
})

it('a judge names the place that it does not know', async () => {
  await expect(loadBuiltin(['moderation', { where: 'input' as never }])).rejects.toMatchObject({ code: 'empty-judge' })
})
