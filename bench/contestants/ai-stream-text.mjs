// The AI SDK's own loop: `streamText`, with a transform for each processor.
import { isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { historyOf, scriptedModel } from '../works.mjs'

const echo = tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n })

export async function prepare(work) {
  return [...historyOf(work.history), { role: 'user', content: 'Go' }]
}

export async function run(work, messages) {
  const passing = () =>
    new TransformStream({
      transform(part, controller) {
        controller.enqueue(part)
      },
    })
  const result = streamText({
    model: scriptedModel(work),
    messages,
    tools: { echo },
    stopWhen: isStepCount(work.steps + 1),
    experimental_transform: Array.from({ length: work.processors ?? 0 }, () => passing),
  })
  let length = 0
  for await (const part of result.stream) if (part.type === 'text-delta') length += part.text.length
  return length
}
