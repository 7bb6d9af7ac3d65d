// The chat on a port of this machine: `npm start`, then open the address that it prints.
import { chatServer } from './chat-server.ts'
import { pageFiles } from './page-files.ts'

const port = Number(process.env['PORT'] ?? 3000)
const pace = () => new Promise<void>(resolve => setTimeout(resolve, 120))
const server = chatServer({ files: await pageFiles(), pace })
server.listen(port, '127.0.0.1', () => console.log(`The shop is open: http://127.0.0.1:${port}`))
