// The server: the page, the conversation, and the answer as it goes.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { pipeUIMessageStreamToResponse } from 'ai'
import type { Pace } from './clerk-model.ts'
import type { PageFile } from './page-files.ts'
import { shopAgent } from './shop-agent.ts'
import { Thread, type ShopMessage } from './thread.ts'

export interface ChatServerOptions {
  readonly files: ReadonlyMap<string, PageFile>
  readonly pace: Pace
}

/** Makes the server. It listens to nothing yet. */
export function chatServer({ files, pace }: ChatServerOptions): Server {
  const agent = shopAgent(pace, randomBytes(32).toString('hex'))
  const threads = new Map<string, Thread>()
  const threadOf = (id: string) => threads.get(id) ?? threads.set(id, new Thread()).get(id)!

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { id, message } = (await json(request)) as { readonly id: string; readonly message: ShopMessage }
    const thread = threadOf(id)
    if (thread.isAnswering) return void response.writeHead(409).end('One answer at a time.')
    if (!thread.receive(message)) return void response.writeHead(400).end('There is nothing to answer.')
    const { messages } = thread
    const stream = agent.stream(messages).toUIMessageStream({ originalMessages: messages, onError: sorry })
    await pipeUIMessageStreamToResponse({ response, stream: thread.answer(stream) })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const [, id, what] = /^\/api\/chat\/([\w-]+)(?:\/(stream))?$/.exec(pathname) ?? []
    if (request.method === 'POST' && pathname === '/api/chat') return answer(request, response)
    if (id && what) {
      const stream = threadOf(id).replay()
      if (stream) return pipeUIMessageStreamToResponse({ response, stream })
      return void response.writeHead(204).end()
    }
    if (id)
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(threadOf(id).messages))
    const file = files.get(pathname === '/' ? '/index.html' : pathname)
    if (!file) return void response.writeHead(404).end('There is nothing here.')
    response.setHeader('content-type', file.type).end(file.content)
  }

  return createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      console.error(error)
      if (!response.headersSent) response.writeHead(400)
      response.end()
    })
  })
}

function sorry(error: unknown): string {
  console.error(error)
  return 'Something went wrong.'
}
