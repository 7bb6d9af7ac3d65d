// An OpenAI-compatible server on loopback that says what a script tells it to, over real HTTP, and keeps what it was asked.
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export type Reply =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly input: object }[] }
  | { readonly status: number; readonly message: string }
  /** Says this and then nothing more, until the client goes away. */
  | { readonly hangAfter: string }

export type Asked = {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tool_choice?: unknown
  readonly authorization: string | undefined
}

export type ScriptedServer = {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Resolves when a reply hangs, and when its client has gone away. */
  readonly hanging: Promise<unknown>
  readonly left: Promise<unknown>
}

/** Starts a server that gives these replies in order, and stops it after the test. */
export async function scriptedServer(replies: readonly Reply[]): Promise<ScriptedServer> {
  const asked: Asked[] = []
  const events = new EventEmitter()
  const [hanging, left] = [once(events, 'hanging'), once(events, 'left')]
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const reply = replies[asked.length] ?? { status: 500, message: 'The script has no more replies' }
    asked.push({ ...((await json(request)) as Asked), authorization: request.headers.authorization })
    response.on('close', () => 'hangAfter' in reply && events.emit('left'))
    send(response, reply)
    if ('hangAfter' in reply) events.emit('hanging')
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, asked, hanging, left }
}

function send(response: ServerResponse, reply: Reply): void {
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: reply.message, type: 'error' } }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const delta of deltasOf(reply)) write(response, { delta, finish_reason: null })
  if ('hangAfter' in reply) return
  write(response, { delta: {}, finish_reason: 'calls' in reply ? 'tool_calls' : 'stop' })
  response.end('data: [DONE]\n\n')
}

function deltasOf(reply: Exclude<Reply, { status: number }>): readonly object[] {
  if ('calls' in reply) {
    return reply.calls.map(({ name, input }, index) => ({
      tool_calls: [
        { index, id: `call-${name}-${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } },
      ],
    }))
  }
  const text = 'text' in reply ? reply.text : reply.hangAfter
  return (text.match(/.{1,4}/gs) ?? []).map(content => ({ role: 'assistant', content }))
}

function write(response: ServerResponse, choice: object): void {
  const chunk = {
    id: 'chat',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, ...choice }],
  }
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}
