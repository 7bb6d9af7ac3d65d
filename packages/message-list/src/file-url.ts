// Files: bytes become a data URL on the way in, and a data URL becomes bytes again on the way out. Nothing is fetched.
import { base64Of } from './frozen-json.ts'

/** A file as a part holds it. */
export interface FileAddress {
  readonly url: string
  readonly providerReference?: { readonly [provider: string]: string }
}

/** The address of a file whose data came in any of the forms that model messages use, bytes being base64 already. */
export function fileAddress(data: unknown, mediaType: string): FileAddress {
  if (typeof data === 'string') return { url: isUrl(data) ? data : dataUrl(data, mediaType) }
  const { type, ...rest } = data as {
    type?: string
    data?: string
    url?: string
    text?: string
    reference?: Record<string, string>
  }
  switch (type) {
    case 'data':
      return { url: dataUrl(rest.data ?? '', mediaType) }
    case 'url':
      return { url: rest.url ?? '' }
    case 'text':
      return { url: dataUrl(base64Of(new TextEncoder().encode(rest.text)), mediaType) }
    case 'reference':
      return { url: '', providerReference: rest.reference ?? {} }
    default:
      return { url: '', providerReference: data as Record<string, string> }
  }
}

/** The media type of a picture, when its first bytes tell; what most models need to accept one. */
export function imageTypeOf(base64: string): string | undefined {
  if (base64.startsWith('iVBORw')) return 'image/png'
  if (base64.startsWith('/9j/')) return 'image/jpeg'
  if (base64.startsWith('R0lGOD')) return 'image/gif'
  return base64.startsWith('UklGR') ? 'image/webp' : undefined
}

/** Takes a data URL apart. Undefined for other addresses. */
export function dataOfUrl(url: string): { readonly mediaType: string; readonly base64: string } | undefined {
  if (!url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  if (comma < 0) return undefined
  const [mediaType = '', ...attributes] = url.slice('data:'.length, comma).split(';')
  const content = url.slice(comma + 1)
  if (attributes.includes('base64')) return { mediaType: mediaType || 'text/plain', base64: content }
  try {
    return {
      mediaType: mediaType || 'text/plain',
      base64: base64Of(new TextEncoder().encode(decodeURIComponent(content))),
    }
  } catch {
    return undefined
  }
}

function dataUrl(base64: string, mediaType: string): string {
  return `data:${mediaType};base64,${base64}`
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(text.slice(0, 64))
}
