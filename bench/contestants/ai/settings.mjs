// What the three ways of the AI SDK are given: the model, the tool, where to stop, and readers as one `prepareStep`.
import { isStepCount, tool } from 'ai'
import { z } from 'zod'
import { languageModel } from '../../language-model.mjs'
import { historyOf } from '../../script.mjs'

export const messagesOf = work => [...historyOf(work.history), { role: 'user', content: 'Go' }]

export const settingsOf = (work, seen) => ({
  model: languageModel(work),
  tools: { echo: tool({ inputSchema: z.object({ n: z.number() }), execute: () => seen.tool() }) },
  stopWhen: isStepCount(work.steps + 1),
  ...(work.readers > 0 && { prepareStep: ({ messages }) => readAll(work, messages, seen) }),
})

function readAll({ readers }, messages, seen) {
  for (let reader = 0; reader < readers; reader++) seen.read(messages)
  return {}
}

/** A transform for each processor: the SDK's way to see and change chunks. */
export const transformsOf = ({ processors, async }) =>
  Array.from(
    { length: processors },
    () => () =>
      new TransformStream({
        transform: async
          ? async (part, controller) => controller.enqueue(part)
          : (part, controller) => controller.enqueue(part),
      }),
  )

export async function readStream(stream, seen) {
  for await (const part of stream) if (part.type === 'text-delta') seen.text(part.text)
}
