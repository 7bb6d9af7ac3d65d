// An OpenAI-compatible server on loopback. It replies what a script tells it to, over real HTTP, and keeps what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A call of a tool, its arguments in as many pieces as there are texts. */
export interface ReplyCall {
  readonly name: string
  readonly arguments: readonly string[]
}

export interface Reply {
  readonly text?: readonly string[]
  readonly calls?: readonly ReplyCall[]
  /** An error instead, with its headers. */
  readonly status?: number
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Awaited after the first piece of text. */
  readonly wait?: Promise<unknown>
  /** The connection is cut instead of an end. */
  readonly cut?: boolean
}

export interface Asked {
  readonly messages: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_calls?: readonly object[]
  }[]
  readonly tools?: readonly object[]
}

export interface HttpServer {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Resolves when a client has gone away before its reply was over. */
  readonly left: Promise<void>
}

/** Starts a server that gives these replies in order, and stops it after the test. */
export async function httpServer(replies: readonly Reply[]): Promise<HttpServer> {
  const asked: Asked[] = []
  let leave = () => {}
  const left = new Promise<void>(resolve => (leave = resolve))
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const reply = replies[asked.length] ?? { status: 400, message: 'The script has no more replies.' }
    asked.push((await json(request)) as Asked)
    response.on('close', () => (response.writableFinished ? undefined : leave()))
    await send(response, reply)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, left }
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  const { status = 200, message, headers = {} } = reply
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message, type: 'error' } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [index, content] of (reply.text ?? []).entries()) {
    await written(response, { delta: { role: 'assistant', content }, finish_reason: null })
    if (index === 0) await reply.wait
  }
  for (const delta of callDeltas(reply.calls ?? [])) await written(response, { delta, finish_reason: null })
  if (reply.cut) {
    response.socket?.destroy()
    return
  }
  await written(response, { delta: {}, finish_reason: reply.calls ? 'tool_calls' : 'stop' })
  response.end('data: [DONE]\n\n')
}

function callDeltas(calls: readonly ReplyCall[]): readonly object[] {
  return calls.flatMap(({ name, arguments: pieces }, index) =>
    pieces.map((piece, at) => {
      const head = at === 0 ? { id: `call-${name}-${index}`, type: 'function' } : {}
      return { tool_calls: [{ index, ...head, function: { ...(at === 0 ? { name } : {}), arguments: piece } }] }
    }),
  )
}

function written(response: ServerResponse, choice: object): Promise<void> {
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  const chunk = {
    id: 'chat',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, ...choice }],
    usage,
  }
  return new Promise(resolve => void response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => resolve()))
}
