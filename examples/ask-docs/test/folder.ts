// Folders of documents for tests, written to the system's temporary folder and removed after the test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ask-docs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

/** Two folders about different things, for tests that must not pass on the wrong one. */
export const tea = {
  'brewing.md': [
    '# Brewing tea',
    'This page is about green tea.',
    '## Water',
    'Green tea wants water at 75 degrees. Boiling water makes it bitter. The kettle does not matter.',
    '## Time',
    'Let green tea steep for two minutes. A second infusion takes one minute.',
  ].join('\n\n'),
  'storing.md': '# Storing tea\n\nTea is kept dry and dark. A tin keeps tea fresh for a year.',
}

export const boats = {
  'knots.md': '# Knots\n\n## Bowline\n\nA bowline makes a loop that does not slip. Tie a bowline to moor a boat.',
  'sails.md':
    '# Sails\n\n## Reefing\n\nReef the sail before the wind is too strong. A reefed sail heels the boat less.',
}
