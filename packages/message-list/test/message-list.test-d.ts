// What the types promise. Checked by the compiler, never run.
import { generateText, type LanguageModel, type ModelMessage, type UIMessage } from 'ai'
import { expectTypeOf } from 'vitest'
import {
  isToolPart,
  MessageList,
  toolNameOf,
  type AgentMessage,
  type Edit,
  type MessageListErrorCode,
} from '@lockstep/message-list'

declare const list: MessageList
declare const model: LanguageModel
declare const message: AgentMessage
declare const modelMessages: ModelMessage[]
declare const uiMessages: readonly UIMessage[]

// Every format goes in, and what comes out goes into the AI SDK as it is.
list.add('text', 'input').add(modelMessages, 'input').add(uiMessages, 'memory').add(list.getMessages(), 'context')
list.add([message, 'text', modelMessages[0]!, uiMessages[0]!], 'input', { reconcile: true })
list.add({ role: 'user', parts: [{ type: 'text', text: 'no id' }] }, 'input')
void generateText({ model, messages: list.get.all.model() })
expectTypeOf(list.get.all.ui()).toEqualTypeOf<UIMessage[]>()
expectTypeOf(list.get.all.model()).toEqualTypeOf<ModelMessage[]>()

// @ts-expect-error A source is one of four.
list.add('text', 'somewhere')
// @ts-expect-error A modern part is checked by its type.
list.add({ id: 'a', role: 'user', parts: [{ type: 'text', txt: 'typo' }] }, 'input')
// @ts-expect-error So is the part of a model message.
list.add({ role: 'user', content: [{ type: 'text', txt: 'typo' }] }, 'input')

// Parts narrow by their type, and are readonly to the leaves.
for (const part of message.content.parts) {
  if (part.type === 'text') expectTypeOf(part.text).toEqualTypeOf<string>()
  if (isToolPart(part)) {
    expectTypeOf(toolNameOf(part)).toEqualTypeOf<string>()
    if (part.state === 'output-error') expectTypeOf(part.errorText).toEqualTypeOf<string>()
    // @ts-expect-error Stored parts are readonly.
    part.state = 'output-denied'
  }
}
// @ts-expect-error Stored messages are readonly.
message.content.parts.push({ type: 'step-start' })
// @ts-expect-error So is the list of them.
list.getMessages().push(message)

// A draft is a message that can be edited.
list.update('a', draft => {
  draft.content.parts.push({ type: 'text', text: 'more' })
  const [first] = draft.content.parts
  if (first?.type === 'text') first.text += '!'
})
list.draft(messages => messages.pop())

// A change of a tool is checked by its state.
list.updateTool('a', { state: 'output-available', output: 1, modelOutput: { type: 'text', value: 'one' } })
// @ts-expect-error An error has a text.
list.updateTool('a', { state: 'output-error' })

const edit: Edit = { type: 'order', ids: ['a'] }
list.apply([edit])
expectTypeOf<'frozen'>().toExtend<MessageListErrorCode>()
