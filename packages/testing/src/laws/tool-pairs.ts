// tool-pairs: a call and its result are one thing; providers refuse prompts in which one of them is missing.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { MessageList, type AgentMessage, type PromptRepair } from '@lockstep/message-list'
import type { Processor } from '@lockstep/processors'
import { hasHook } from '../processor-places.ts'
import { broken, runScenario, type ProcessorLaw } from '../processor-law.ts'
import { scenariosOf } from '../scenario.ts'

/** No prompt has a tool call without its result, or the reverse. */
export const toolPairs: ProcessorLaw = {
  name: 'tool-pairs',
  meaning: 'leaves no prompt with a tool call without its result, or a result without its call',
  appliesTo: processor =>
    hasHook(
      processor,
      'processInput',
      'processInputStep',
      'processLLMRequest',
      'processOutputStep',
      'processStepEnd',
    ) ||
    hasHook(processor, 'processOutputStream', 'processToolCall', 'processToolResult', 'processOutputResult') ||
    'it has no hook that edits the conversation',
  async check(factory, options = {}) {
    for (const scenario of scenariosOf(options)) {
      const repairs: PromptRepair[] = []
      const others = { inputProcessors: [repairProbe(repairs)] }
      const { prompts } = await runScenario(factory(), scenario, { others })
      const fact = prompts.map(orphanIn).find(found => found !== undefined) ?? repairs[0]?.reason
      if (fact !== undefined)
        throw broken('tool-pairs', {
          where: scenario.name,
          fact,
          cure: 'Remove and keep a call and its result together: they are one part of a message in the list, and two in a prompt.',
        })
    }
  },
}

const ofPairs: ReadonlySet<PromptRepair['type']> = new Set([
  'unfinished-call',
  'unanswered-call',
  'reasoning-without-call',
  'call-without-reasoning',
])

/** Looks at what the model is about to be sent, before it is put right. */
function repairProbe(repairs: PromptRepair[]): Processor {
  return {
    id: 'lockstep-testing-probe',
    processInputStep({ messages }) {
      const list = new MessageList().add(messages as AgentMessage[], 'memory')
      list.get.all.prompt({ onRepair: repair => void (ofPairs.has(repair.type) && repairs.push(repair)) })
    },
  }
}

function orphanIn(prompt: LanguageModelV4Prompt): string | undefined {
  const open = new Map<string, string>()
  for (const message of prompt) {
    if (message.role === 'assistant')
      for (const part of message.content) {
        if (part.type === 'tool-call' && part.providerExecuted !== true) open.set(part.toolCallId, part.toolName)
        if (part.type === 'tool-result') open.delete(part.toolCallId)
      }
    if (message.role !== 'tool') continue
    for (const part of message.content)
      if (part.type === 'tool-result' && !open.delete(part.toolCallId))
        return `a prompt has a result of ${part.toolName} (${part.toolCallId}) without its call`
  }
  const [call] = open
  return call && `a prompt has a call of ${call[1]} (${call[0]}) without its result`
}
