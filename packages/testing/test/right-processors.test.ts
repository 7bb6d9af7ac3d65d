// Processors that are right keep every law.
import { answeringModel } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import {
  again,
  asker,
  cache,
  editor,
  judge,
  log,
  optionalJudge,
  pickyGuard,
  quiet,
  shouter,
  smoother,
  summariser,
  switcher,
  toolGuard,
  window,
  wordGuard,
} from './right-processors.ts'

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
processorContract(smoother)
processorContract(quiet)
processorContract(editor)
processorContract(cache, { skip: [{ law: 'acts', reason: 'it answers from the second run on' }] })
processorContract(asker)
processorContract(() => switcher(() => answeringModel({ toolCalls: [{ toolName: 'act', input: {} }] })))
processorContract(() => log([]))
processorContract(summariser)
