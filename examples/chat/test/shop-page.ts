// The real server, in this process, and a page of it in a real browser. The clerk speaks when the test lets it.
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type Page } from 'playwright-core'
import { chatServer } from '../src/chat-server.ts'
import { pageFiles } from '../src/page-files.ts'

/** Where Debian puts the browser, unless the environment names another. */
const browserPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** Why there are no tests in a browser; nothing when there are. Where a browser is required, the tests run and fail. */
export const whyNoBrowser: string | undefined =
  existsSync(browserPath) || process.env['LOCKSTEP_BROWSER'] === 'required'
    ? undefined
    : `there is no browser at ${browserPath}: install chromium, or set CHROMIUM_PATH`

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Holds the clerk at a word until it is let go. */
export class Pacer {
  readonly #held = new Map<string, () => void>()
  readonly #words = new Map<string, Promise<void>>()

  /** The clerk stops before the next time it would say the word. */
  holdAt(word: string): void {
    this.#words.set(word, new Promise<void>(resolve => this.#held.set(word, resolve)))
  }

  letGo(word: string): void {
    this.#held.get(word)?.()
    this.#words.delete(word)
  }

  readonly pace = async (word: string): Promise<void> => {
    await this.#words.get(word.trim())
  }
}

export interface Shop {
  readonly pacer: Pacer
  /** A page with a conversation of its own. */
  readonly open: () => Promise<Page>
  readonly close: () => Promise<void>
}

/** Everything that a page has shown, whenever it was. */
declare global {
  interface Window {
    shown: string
  }
}

export async function openShop(): Promise<Shop> {
  const pacer = new Pacer()
  const server = chatServer({ files: await pageFiles(), pace: pacer.pace })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const browser: Browser = await chromium.launch({ executablePath: browserPath, args: flags })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    pacer,
    async open() {
      const page = await browser.newPage()
      page.setDefaultTimeout(10_000)
      await page.addInitScript(() => {
        window.shown = ''
        new MutationObserver(() => (window.shown += `${document.body?.innerText ?? ''}\n`)).observe(document, {
          childList: true,
          characterData: true,
          subtree: true,
        })
      })
      await page.goto(url)
      return page
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
