// Tools of an MCP server are tools like any others: guarded, redacted, shown. This program is also that server.
import { createMCPClient } from '@ai-sdk/mcp'
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { Agent, type Processor } from '@lockstep/agent'
import { scriptedModel } from '@lockstep/agent-loop/testing'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

async function serve() {
  const server = new McpServer({ name: 'files', version: '1.0.0' })
  const inputSchema = { path: z.string() }
  server.registerTool('read', { inputSchema }, ({ path }) => text(`${path} has the key AKIAIOSFODNN7EXAMPLE in it`))
  server.registerTool('remove', { inputSchema }, ({ path }) => text(`${path} is gone`))
  await server.connect(new StdioServerTransport())
}

async function run() {
  const args = [...process.execArgv, import.meta.filename, 'serve']
  const client = await createMCPClient({ transport: new StdioMCPTransport({ command: process.execPath, args }) })
  const readOnly: Processor = {
    id: 'read-only',
    processToolCall: ({ toolName }) => (toolName === 'remove' ? { deny: 'Nothing is removed here.' } : undefined),
  }
  const input = { path: 'notes.txt' }
  const model = scriptedModel([
    {
      toolCalls: [
        { toolName: 'read', input },
        { toolName: 'remove', input },
      ],
    },
    'I have read it.',
  ])
  const outputProcessors = ['secret-redactor', readOnly] as const
  const agent = new Agent({ name: 'clerk', model, tools: await client.tools(), outputProcessors })
  const { text: answer } = await agent.generate('Read the notes, then remove them.')
  await client.close()
  const results = model.doStreamCalls[1]?.prompt.at(-1)?.content as readonly { readonly output: object }[]
  for (const { output } of results) console.log(JSON.stringify(output))
  console.log(answer)
}

await (process.argv[2] === 'serve' ? serve() : run())
