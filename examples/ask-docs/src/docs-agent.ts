// The agent of this example: a model, three tools, and four processors that each do one thing to a step. Everything else is details.
import { Agent } from '@lockstep/agent'
import { secretRedactor } from '@lockstep/processors-builtin/secret-redactor'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { createDocsIndex } from './docs/docs-index.ts'
import { docsTools } from './docs/docs-tools.ts'
import type { MarkdownDocument } from './docs/markdown-document.ts'
import { answerAfter } from './processors/answer-after.ts'
import { citationGuard } from './processors/citation-guard.ts'
import { questionTidier } from './processors/question-tidier.ts'

export type DocsAgent = ReturnType<typeof docsAgent>

const toolSteps = 2

const instructions = `You answer questions about a folder of documents, from the documents alone.
You have ${toolSteps} steps for tools: first search, with several queries at once; then read several sections at once.
Then answer briefly, in the words of the documents where you can. Say so when they do not answer the question.`

/** Makes the agent that answers from these documents. */
export function docsAgent(documents: readonly MarkdownDocument[], model: LanguageModelV4) {
  return new Agent({
    name: 'ask-docs',
    instructions,
    model,
    tools: docsTools(createDocsIndex(documents)),
    inputProcessors: [questionTidier(), answerAfter(toolSteps)],
    outputProcessors: [secretRedactor(), citationGuard()],
    maxProcessorRetries: 2,
  })
}
