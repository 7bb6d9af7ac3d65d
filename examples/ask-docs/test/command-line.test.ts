import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notOwnDocuments, ownRepository, readCommandLine } from '../src/command-line.ts'
import { tidy } from '../src/processors/question-tidier.ts'

describe('the command line', () => {
  it('reads options in any order and joins the words of an unquoted question', () => {
    expect(readCommandLine(['how', 'now', '--docs', 'x', '--chat'])).toEqual({
      help: false,
      chat: true,
      docs: 'x',
      question: 'how now',
    })
    expect(readCommandLine(['-h', ' '])).toEqual({ help: true, chat: false, docs: undefined, question: undefined })
  })

  it.each([[['--dosc', 'x']], [['--docs']], [['--chat=yes']]])('refuses %j and points to the help', args => {
    expect(() => readCommandLine(args)).toThrow(/See --help/)
  })

  it('knows its own repository and which of its documents explain the library', () => {
    expect(existsSync(join(ownRepository, 'pnpm-workspace.yaml'))).toBe(true)
    const paths = ['README.md', 'docs', 'packages/agent/README.md', 'examples', 'bench', 'packages/agent/CHANGELOG.md']
    expect(paths.filter(notOwnDocuments)).toEqual(['examples', 'bench', 'packages/agent/CHANGELOG.md'])
  })
})

describe('tidying a question', () => {
  it.each([
    ['  how  does\n it work ??? ', 'How does it work?'],
    ['what is a tripwire', 'What is a tripwire?'],
    ['Tell me about state', 'Tell me about state'],
    ['why!?', 'Why!'],
    ['How? Like this.', 'How? Like this.'],
    ['', ''],
    ['what is `a`', 'What is `a`?'],
    ['étienne asks', 'Étienne asks'],
  ])('makes %j into %j, and twice is once', (typed, tidied) => {
    expect(tidy(typed)).toBe(tidied)
    expect(tidy(tidied)).toBe(tidied)
  })
})
