// Processors that are right keep every law.
import { answeringModel } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { again, judge, optionalJudge, pickyGuard, shouter, toolGuard, window, wordGuard } from './right-processors.ts'

const texts = ['It is no secret, so', 'secret', 'secretary and secrets keep secret: secret']

processorContract(() => wordGuard(), {
  texts: [...texts, { text: 'a secret.', shown: 'a [removed].' }],
})
processorContract(shouter)
processorContract(pickyGuard, { texts: ['I am sorry.'], scripts: [['I am sorry.', 'Here you are.']] })
processorContract(() => judge(answeringModel('yes')))
processorContract(
  () => judge(answeringModel(({ prompt }) => (JSON.stringify(prompt).includes('bomb') ? 'no' : 'yes'))),
  {
    texts: ['Take a bomb.'],
  },
)
processorContract(() => optionalJudge(answeringModel('yes')))
processorContract(window)
processorContract(toolGuard)
processorContract(again)
