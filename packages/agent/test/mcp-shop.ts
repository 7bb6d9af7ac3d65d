// A server of the Model Context Protocol with the tools of a shop. Run as a program it speaks over its standard streams.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

/** Makes a server; one serves one connection. */
export function mcpShop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
  const price = { title: 'Price', description: 'What something costs', inputSchema: { of: z.string() } }
  server.registerTool('price', price, ({ of }) => text(`${of}: 3 euros, secret code AKIAIOSFODNN7EXAMPLE`))
  server.registerTool('stock', { inputSchema: { of: z.string() } }, ({ of }) => {
    throw new Error(`The warehouse does not know ${of}.`)
  })
  return server
}

if (process.argv[1] === import.meta.filename) await mcpShop().connect(new StdioServerTransport())
