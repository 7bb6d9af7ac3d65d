import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createMCPClient } from '@ai-sdk/mcp'
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { toUIMessageStream } from '@lockstep/agent/ui'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mcpShop } from './mcp-shop.ts'
import { chatOf } from './ui-client.ts'

const overStandardStreams = () =>
  createMCPClient({
    transport: new StdioMCPTransport({
      command: process.execPath,
      args: ['--no-warnings', join(import.meta.dirname, 'mcp-shop.ts')],
    }),
  })

const overHttp = async () => {
  const server = createServer((request, response) => {
    const serve = async () => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never)
      await mcpShop().connect(transport as never)
      await transport.handleRequest(request, response, request.method === 'POST' ? await json(request) : undefined)
    }
    void serve()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return createMCPClient({ transport: { type: 'http', url: `http://127.0.0.1:${port}/mcp` } })
}

const shopper = (calls: readonly { readonly toolName: string; readonly input: unknown }[]) =>
  scriptedModel([{ toolCalls: calls }, 'That is all.'])

describe.each([
  ['over standard streams', overStandardStreams],
  ['over HTTP', overHttp],
])('the tools of an MCP server, %s', (_, connect) => {
  it('are listed, called and answered', async () => {
    const client = await connect()
    const model = shopper([{ toolName: 'price', input: { of: 'tea' } }])
    const agent = new Agent({ name: 'shopper', model, tools: await client.tools() })
    const result = await agent.generate('What is tea?')
    await client.close()
    expect(model.doStreamCalls[0]!.tools).toMatchObject([
      { name: 'price', description: 'What something costs', inputSchema: { required: ['of'] } },
      { name: 'stock' },
    ])
    expect(result.text).toBe('That is all.')
    expect(result.toolResults).toMatchObject([{ toolName: 'price', input: { of: 'tea' } }])
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt.at(-1))).toContain('tea: 3 euros')
  })

  it('say what went wrong to the model, which goes on', async () => {
    const client = await connect()
    const model = shopper([
      { toolName: 'stock', input: { of: 'tea' } },
      { toolName: 'price', input: { of: 5 } },
    ])
    const agent = new Agent({ name: 'shopper', model, tools: await client.tools() })
    const result = await agent.generate('Is there tea?')
    await client.close()
    expect(result.stopReason).toBe('completed')
    const told = JSON.stringify(model.doStreamCalls[1]!.prompt.at(-1))
    expect(told).toContain('The warehouse does not know tea.')
    expect(told).toMatch(/Input validation error|invalid_type|expected string/i)
  })

  it('pass their calls and results through the processors', async () => {
    const client = await connect()
    const model = shopper([
      { toolName: 'price', input: { of: 'tea' } },
      { toolName: 'stock', input: { of: 'tea' } },
    ])
    const warehouse: Processor = {
      id: 'warehouse',
      processToolCall: ({ toolName }) => (toolName === 'stock' ? { deny: 'Closed.' } : undefined),
    }
    const agent = new Agent({
      name: 'shopper',
      model,
      tools: await client.tools(),
      outputProcessors: ['secret-redactor', warehouse],
    })
    const chat = chatOf(messages => toUIMessageStream(agent.stream(messages).fullStream))
    await chat.sendMessage({ text: 'What is tea, and is there any?' })
    await client.close()
    expect(chat.error).toBeUndefined()
    const [price, stock] = chat.messages[1]!.parts.filter(part => 'toolCallId' in part)
    expect(price).toMatchObject({ state: 'output-available', input: { of: 'tea' } })
    expect(stock).toMatchObject({ state: 'output-denied' })
    expect(JSON.stringify(chat.messages)).toContain('tea: 3 euros')
    expect(JSON.stringify([chat.messages, model.doStreamCalls[1]!.prompt])).not.toContain('AKIAIOSFODNN7EXAMPLE')
  })

  it('are errors for the model once the client is closed', async () => {
    const client = await connect()
    const tools = await client.tools()
    await client.close()
    const model = shopper([{ toolName: 'price', input: { of: 'tea' } }])
    const result = await new Agent({ name: 'shopper', model, tools }).generate('What is tea?')
    expect(result.stopReason).toBe('completed')
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt.at(-1))).toMatch(/closed/i)
  })
})
