// The page: finds its conversation, or begins one, and shows it.
import { createRoot } from 'react-dom/client'
import type { ShopMessage } from '../thread.ts'
import { ShopChat } from './shop-chat.tsx'

const id = location.hash.slice(1) || crypto.randomUUID()
location.hash = id
const messages = (await (await fetch(`/api/chat/${id}`)).json()) as ShopMessage[]
createRoot(document.getElementById('chat')!).render(<ShopChat id={id} messages={messages} />)
