// Files that are given by address: where the provider cannot fetch one itself, it is downloaded before the call.
import type {
  LanguageModelV4,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import { createDownload } from 'ai'
import type { MaybePromise } from '@lockstep/processors'

/** Fetches a file. `createDownload()` of the AI SDK makes one with a limit of size; it is the default. */
export type Download = (request: { readonly url: URL; readonly abortSignal: AbortSignal }) => Promise<DownloadedFile>

/** What was fetched. */
export interface DownloadedFile {
  readonly data: Uint8Array
  readonly mediaType: string | undefined
}

type Urls = Readonly<Record<string, readonly RegExp[]>>

/** The downloads of one run: each address once, each message looked at once. */
export class FileDownloads {
  readonly #download: Download
  readonly #files = new Map<string, Promise<DownloadedFile>>()
  readonly #withUrls = new Set<LanguageModelV4Message>()
  #seen: LanguageModelV4Prompt = []

  constructor(download: Download | undefined) {
    this.#download = download ?? createDownload()
  }

  /**
   * The prompt with every file that the model's provider cannot fetch put in; the same prompt when there is none.
   *
   * *Cost*: a message that was in the run's last prompt is not looked at again.
   * *Throws*: what the download throws.
   */
  resolve(
    prompt: LanguageModelV4Prompt,
    model: LanguageModelV4,
    abortSignal: AbortSignal,
  ): MaybePromise<LanguageModelV4Prompt> {
    for (let index = 0; index < prompt.length; index++) {
      const message = prompt[index]!
      if (this.#seen[index] !== message && hasUrl(message)) this.#withUrls.add(message)
    }
    this.#seen = prompt
    return this.#withUrls.size === 0 ? prompt : this.#resolve(prompt, model, abortSignal)
  }

  async #resolve(
    prompt: LanguageModelV4Prompt,
    model: LanguageModelV4,
    abortSignal: AbortSignal,
  ): Promise<LanguageModelV4Prompt> {
    const supported = await model.supportedUrls
    const resolved = prompt.slice()
    for (const [index, message] of prompt.entries()) {
      if (!this.#withUrls.has(message) || typeof message.content === 'string') continue
      const content: object[] = [...message.content]
      for (const [place, part] of content.entries())
        if (isUrlFile(part) && !canFetch(part, supported)) content[place] = await this.#downloaded(part, abortSignal)
      resolved[index] = { ...message, content } as LanguageModelV4Message
    }
    return resolved
  }

  async #downloaded(part: UrlFile, abortSignal: AbortSignal): Promise<LanguageModelV4FilePart> {
    const address = String(part.data.url)
    let file = this.#files.get(address)
    if (!file) {
      file = this.#download({ url: new URL(address), abortSignal })
      this.#files.set(address, file)
    }
    const { data, mediaType } = await file
    const isGiven = /^[^*/]+\/[^*]+$/.test(part.mediaType)
    return {
      ...part,
      mediaType: isGiven ? part.mediaType : (mediaType ?? part.mediaType),
      data: { type: 'data', data },
    }
  }
}

type UrlFile = LanguageModelV4FilePart & { readonly data: { readonly type: 'url'; readonly url: string | URL } }

function isUrlFile(part: object): part is UrlFile {
  const { type, data } = part as Partial<LanguageModelV4FilePart>
  return type === 'file' && typeof data === 'object' && 'type' in data && data.type === 'url'
}

function hasUrl({ content }: LanguageModelV4Message): boolean {
  return typeof content !== 'string' && content.some(isUrlFile)
}

/** As providers declare it: patterns of addresses by media type, `image/*` and `*` included. */
function canFetch({ mediaType, data }: UrlFile, supported: Urls): boolean {
  const url = String(data.url)
  return Object.entries(supported).some(
    ([pattern, addresses]) => matches(mediaType, pattern) && addresses.some(address => address.test(url)),
  )
}

function matches(mediaType: string, pattern: string): boolean {
  if (pattern === '*' || pattern === '*/*') return true
  return pattern.endsWith('/*') ? mediaType.startsWith(pattern.slice(0, -1)) : mediaType === pattern
}
