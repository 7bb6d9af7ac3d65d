import { describe, expect, it } from 'vitest'
import { loadBuiltin } from '@lockstep/processors-builtin'
import { classifier } from '@lockstep/processors-builtin/classifier'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { wordJudge } from './judge-model.ts'

const question = 'What does the user want?'
const categories = {
  refund: 'wants money back',
  legal: { description: 'threatens with a lawyer', strategy: 'block', threshold: 0.8 },
} as const
const judge = () => wordJudge({ money: 'classifier/refund', lawyer: 'classifier/legal' })

processorContract(() => classifier({ model: judge(), question, categories }), {
  inputs: ['I want my money.', 'My lawyer will write to you.'],
})

describe('the classifier', () => {
  it('tells what a text is, and leaves it', async () => {
    const found: unknown[] = []
    const guard = classifier({
      model: judge(),
      question,
      categories,
      onVerdict: ({ findings, requestContext }) => {
        found.push(findings)
        requestContext.set('topic', findings[0]?.category)
      },
    })
    const seen: unknown[] = []
    const { result } = await runWith(guard, {
      input: 'I want my money.',
      others: {
        inputProcessors: [
          { id: 'router', processInputStep: ({ requestContext }) => void seen.push(requestContext.get('topic')) },
        ],
      },
    })
    expect(result.stopReason).toBe('completed')
    expect(found).toEqual([[{ judge: 'classifier', category: 'refund', score: 0.9, strategy: 'warn' }]])
    expect(seen).toEqual(['refund'])
  })

  it('refuses where a category says so', async () => {
    const { result } = await runWith(classifier({ model: judge(), question, categories }), { input: 'My lawyer!' })
    expect(result.tripwire).toMatchObject({
      processorId: 'classifier',
      metadata: { findings: [{ category: 'legal' }] },
    })
  })

  it('asks its question, with what belongs to each category', async () => {
    const model = judge()
    await runWith(classifier({ model, question, categories, instructions: 'It is a shop.' }))
    const instructions = (model.doStreamCalls[0]!.prompt[0] as { content: string }).content
    expect(instructions).toContain(
      'What does the user want? It is a shop.\n- classifier/refund: wants money back\n- classifier/legal: threatens with a lawyer\n',
    )
  })

  it('has an id of its own, so that a run can have two', async () => {
    const topic = wordJudge({ money: 'topic/refund' })
    const tone = wordJudge({ Please: 'tone/polite' })
    const found: string[] = []
    const onVerdict = ({ findings }: { findings: readonly { judge: string; category: string }[] }) =>
      void found.push(...findings.map(finding => `${finding.judge} ${finding.category}`))
    const two = [
      classifier({ id: 'topic', model: topic, question, categories: { refund: 'wants money back' }, onVerdict }),
      classifier({
        id: 'tone',
        model: tone,
        question: 'How is it said?',
        categories: { polite: 'is polite' },
        onVerdict,
      }),
    ]
    await runWith(two, { input: 'Please, my money.' })
    expect(found).toEqual(['topic refund', 'tone polite'])
  })

  it('needs categories', async () => {
    await expect(loadBuiltin('classifier')).rejects.toMatchObject({ code: 'empty-judge' })
    expect((await loadBuiltin(['classifier', { question, categories }])).id).toBe('classifier')
  })
})
