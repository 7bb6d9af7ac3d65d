// The conversation: what was said, what is being said, and what became of it.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useState } from 'react'
import type { ShopMessage } from '../thread.ts'
import { ToolCall, type Decide } from './tool-call.tsx'

export function ShopChat({ id, messages: earlier }: { readonly id: string; readonly messages: ShopMessage[] }) {
  const [retry, setRetry] = useState<string>()
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat<ShopMessage>({
    id,
    messages: earlier,
    resume: true,
    transport: new DefaultChatTransport({
      // The server has the conversation: it needs the last message alone.
      prepareSendMessagesRequest: ({ id: chat, messages: all }) => ({ body: { id: chat, message: all.at(-1) } }),
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onData: part => {
      if (part.type === 'data-retry') setRetry(part.data.reason)
    },
    onFinish: () => setRetry(undefined),
  })
  const send = (form: FormData) => void sendMessage({ text: form.get('said') as string })
  const decide: Decide = (approvalId, approved) => void addToolApprovalResponse({ id: approvalId, approved })
  return (
    <main data-status={status}>
      <h1>Tea shop</h1>
      {messages.map(message => (
        <Message key={message.id} message={message} decide={decide} />
      ))}
      {retry && <p className="note" role="status">{`Trying again: ${retry}`}</p>}
      {error && <p className="refusal">{error.message}</p>}
      <form action={send}>
        <input name="said" placeholder="Which teas are there?" autoComplete="off" />
        <button disabled={status !== 'ready' && status !== 'error'}>Send</button>
      </form>
    </main>
  )
}

function Message({ message, decide }: { readonly message: ShopMessage; readonly decide: Decide }) {
  return (
    <div className={`message ${message.role}`}>
      {message.parts.map((part, index) => {
        if (part.type === 'text') return <span key={index}>{part.text}</span>
        if (part.type === 'data-tripwire')
          return (
            <p key={index} className="refusal" role="alert">
              The answer was taken back: {part.data.reason}
            </p>
          )
        return isToolUIPart(part) ? <ToolCall key={part.toolCallId} call={part} decide={decide} /> : null
      })}
    </div>
  )
}
