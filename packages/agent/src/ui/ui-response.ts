// A UI message stream as the response of a server. The AI SDK writes the events; it is loaded with the first of them.
import type { UIMessageChunk } from 'ai'
import { streamOnDemand } from '../stream/stream-on-demand.ts'
import type { UIResponseInit } from './ui-message-stream.ts'

/** What the protocol of UI message streams, version 1, says at its head. */
const protocolHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
}

/** As `createUIMessageStreamResponse` of the AI SDK. */
export function uiResponse(stream: ReadableStream<UIMessageChunk>, init: UIResponseInit): Response {
  const { status, statusText, headers: own } = init
  const headers = new Headers(own)
  for (const [name, value] of Object.entries(protocolHeaders)) if (!headers.has(name)) headers.set(name, value)
  const body = async () => {
    const { createUIMessageStreamResponse } = await import('ai')
    return createUIMessageStreamResponse({ ...init, stream }).body!
  }
  return new Response(streamOnDemand(body, { highWaterMark: 1 }), {
    ...(status === undefined ? {} : { status }),
    ...(statusText === undefined ? {} : { statusText }),
    headers,
  })
}
