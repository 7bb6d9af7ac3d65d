// The script as a chat model of LangChain.
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { nextTurn, turnsOf, word } from '../../script.mjs'

export class ScriptedChatModel extends BaseChatModel {
  constructor(work) {
    super({})
    this.work = work
    this.turns = turnsOf(work)
  }

  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate() {
    throw new Error('The bench streams.')
  }

  async *_streamResponseChunks(_messages, _options, runManager) {
    const call = this.turns.next()
    if (call) {
      const toolCall = { type: 'tool_call_chunk', index: 0, id: `call-${call}`, name: 'echo', args: '{"n":1}' }
      yield chunkOf(new AIMessageChunk({ content: '', tool_call_chunks: [toolCall] }))
      return
    }
    for (let index = 0; index < this.work.deltas; index++) {
      if (this.work.paced) await nextTurn()
      const chunk = chunkOf(new AIMessageChunk(word))
      yield chunk
      await runManager?.handleLLMNewToken(word, undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

const chunkOf = message => new ChatGenerationChunk({ message, text: message.content })
