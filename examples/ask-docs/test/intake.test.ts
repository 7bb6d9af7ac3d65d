import { describe, expect, it } from 'vitest'
import { defaultQuestion, ownRepository } from '../src/command-line.ts'
import { intake } from '../src/intake.ts'

const line = { help: false, chat: false, docs: undefined, question: undefined }

describe('the intake', () => {
  it('asks nothing when everything is known', () => {
    expect(intake({ ...line, docs: './docs', question: 'why?' })).toMatchObject({
      folder: './docs',
      question: 'why?',
      ask: undefined,
    })
  })

  it('falls back on this repository and the default question', () => {
    expect(intake(line)).toMatchObject({ folder: ownRepository, question: defaultQuestion, ask: undefined })
  })

  it('lets the person at the prompt ask first', () => {
    expect(intake({ ...line, chat: true })).toMatchObject({ question: undefined, ask: 'What do you want to know?' })
  })
})
