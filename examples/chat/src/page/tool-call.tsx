// A tool call: what it is for, what became of it, and the question when a person has to decide.
import type { ToolUIPart } from 'ai'
import type { ShopMessage } from '../thread.ts'

/** Answers the request with this id. */
export type Decide = (approvalId: string, approved: boolean) => void

type Call = Extract<ShopMessage['parts'][number], { readonly toolCallId: string }>

const outcomes: Partial<Record<ToolUIPart['state'], string>> = {
  'approval-responded': 'answered',
  'output-available': 'done',
  'output-denied': 'not done',
  'output-error': 'failed',
}

export function ToolCall({ call, decide }: { readonly call: Call; readonly decide: Decide }) {
  const name = call.type.replace('tool-', '')
  return (
    <div className="call" data-call={name}>
      {name} {JSON.stringify(call.input)}
      {call.state === 'approval-requested' ? (
        <>
          {' '}
          <button onClick={() => decide(call.approval.id, true)}>Yes, order</button>{' '}
          <button onClick={() => decide(call.approval.id, false)}>No</button>
        </>
      ) : (
        `: ${outcomes[call.state] ?? 'running'}`
      )}
    </div>
  )
}
