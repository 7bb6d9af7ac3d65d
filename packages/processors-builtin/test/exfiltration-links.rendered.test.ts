import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exfiltrationLinks } from '@lockstep/processors-builtin/exfiltration-links'
import { cut, runCount, streamed } from './redactor-run.ts'
import { renderedLinks, type RenderedLink } from './rendered-links.ts'

const allowed = /^(?:good\.example|.+\.docs\.example|page\.invalid)$/
/** What a name server or a router can lead somewhere. */
const reachable = /(?:^|\.)(?:[a-z][a-z\d-]+|\d+)$|^\[/
const guard = exfiltrationLinks({ allow: ['good.example', '*.docs.example'] })

/** Whether a browser that follows an address tells another host anything: by what is loaded unasked, by its name alone. */
function leaks({ address, isLoaded }: RenderedLink): boolean {
  return ['https://page.invalid/', 'http://page.invalid/'].some(page => {
    const url = URL.parse(address.replaceAll('#link-removed', ''), page)
    if (url === null) return false
    if (!/^(?:https?|ftp|wss?):$/.test(url.protocol))
      return url.protocol === 'mailto:' ? url.search !== '' : /^(?:javascript|vbscript|file|blob):$/.test(url.protocol)
    const { username, password, port, pathname, search, hash } = url
    const host = url.hostname.replace(/^www\.|\.$/g, '')
    if (allowed.test(host) || !reachable.test(host)) return false
    if (isLoaded) return true
    const isBare = pathname === '/' && `${username}${password}${port}${search}${hash}` === ''
    return !isBare || host.split('.').length > (/^[\d.]+$/.test(host) ? 4 : 2)
  })
}

const bits = fc.oneof(
  fc.constantFrom(
    ...'https:// http:// https: ftp:// HTTPS:// // /\\ \\\\ https:\\\\ http:/ www. evil.example evil.example/ evil.example/x evil.example? .evil.example good.example good.example/ good.example/a a.docs.example @evil.example/ /x ?d=s #s :80'.split(
      ' ',
    ),
  ),
  fc.constantFrom(
    ...'![ ![a]( [a]( [a] [ ] ]( ]: [a]: ![a] ![a][b] [b]: < > <> " \' ( ) { } | ` ``` ~~~ * ** _ ~ ~~ ! \\ \\] \\[ \\( \\) \\! \\< & ; . , : ; = - # + 1.'.split(
      ' ',
    ),
  ),
  fc.constantFrom(
    ...'<a_href= <img_src= <img/src= <img_src=" <a_href=\' <img_srcset=" <img_alt=" <video_poster= <body_background= <form_action= <style> </style> <div_style=" url( @import <base_href= <link_href= <!-- --> <![CDATA[ <? <svg><image_href= <object_data= <iframe_srcdoc=" _1x, <p> </a> />'
      .split(' ')
      .map(text => text.replaceAll('_', ' ')),
  ),
  fc.constantFrom(
    ...'&#104; &#x2f; &sol; &colon; &Tab; &NewLine; &quot; &lt; &gt; &amp; &lpar; &nbsp; &#0; &period; ttps ttps:// javascript: &#106;avascript: data: mailto:a@b.example?x xmpp:a@b/c'.split(
      ' ',
    ),
  ),
  fc.constantFrom(
    ' ',
    '\n',
    '\n\n',
    '\t',
    '\r',
    '\n> ',
    '\n- ',
    '\n    ',
    '    ',
    '\u00a0',
    '\u200b',
    '\u3000',
    '\u2028',
    '\u0000',
    '\u00ad',
    'ｈ',
    '。',
    '．',
    '／',
    'а',
    'é',
    '😀',
    'x',
    'secret',
  ),
)
const texts = fc.array(bits, { minLength: 1, maxLength: 16 }).map(parts => parts.join(''))

describe('what a page makes of a text that was let through', () => {
  it('tells no host that is not allowed anything', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 8 }), async (text, cuts) => {
        const shown = await streamed(guard, cut(text, cuts))
        expect(renderedLinks(shown).filter(leaks), shown).toEqual([])
      }),
      { numRuns: runCount(2_000) },
    )
  })
})
