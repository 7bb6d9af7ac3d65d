import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { fenceModules, marker } from '../fences.ts'

const document = (...lines: readonly string[]): string => lines.map(line => line.replace(/^'''/, '```')).join('\n')
const modulesOf = (...lines: readonly string[]) => fenceModules(document(...lines))

describe('fenceModules', () => {
  it('keeps each line of code on its line of the document', () => {
    const [module] = modulesOf('# Title', '', "'''ts", 'const a = 1', 'const b = 2', "'''")
    expect(module?.source.split('\n').slice(3, 5)).toEqual(['const a = 1', 'const b = 2'])
    expect(module?.line).toBe(3)
  })

  it('only checks a fence that no text fence follows', () => {
    const [module] = modulesOf("'''ts", 'const a = 1', "'''", '', "'''sh", 'ls', "'''", "'''text", 'a', "'''")
    expect(module?.expectations).toEqual([])
  })

  it('expects the text fence below, a line of prose between or not', () => {
    const [module] = modulesOf("'''ts", "console.log('a')", "'''", '', 'prints', '', "'''text", 'a', "'''")
    expect(module?.expectations).toEqual([{ line: 1, text: 'a' }])
  })

  it.each([
    ['two lines of prose', 'This prints', 'something else.'],
    ['a heading', '## Output'],
  ])('does not expect a text fence below %s', (_, ...between) => {
    const [module] = modulesOf("'''ts", 'const a = 1', "'''", ...between, "'''text", 'a', "'''")
    expect(module?.expectations).toEqual([])
  })

  it('continues the fence above where there is no import', () => {
    const [module, ...others] = modulesOf("'''ts", 'const a = 1', "'''", "'''ts", 'const b = a', "'''")
    expect(others).toEqual([])
    expect(module?.source.split('\n')[1]).toBe('const a = 1')
    expect(module?.source.split('\n')[4]).toBe('const b = a')
  })

  it('lets a continuing fence use a name again, and tells whose output is whose', () => {
    const [module] = modulesOf(
      "'''ts",
      "const a = 'x'",
      "'''",
      "'''ts",
      "const a = 'y'",
      'void a',
      "'''",
      "'''text",
      'y',
      "'''",
    )
    const printed: string[] = []
    const body = (module?.source ?? '').replace('export {}', '')
    runInNewContext(body, { console: { log: (text: string) => printed.push(text) } })
    expect(printed).toEqual([marker(1), marker(4)])
  })

  it('starts a module at a fence with an import', () => {
    const lines = modulesOf("'''ts", "import 'a'", "'''", "'''ts", "import 'b'", "'''").map(({ line }) => line)
    expect(lines).toEqual([1, 4])
  })

  it('outdents a fence in a list', () => {
    const [module] = modulesOf('- first', '', "  '''ts".replace("'''", '```'), '  const a = 1', '  ```')
    expect(module?.source.split('\n')[3]).toBe('const a = 1')
  })

  it.each(['ts nocheck', 'typescript', 'js', 'TS'])('refuses a fence marked %s', info => {
    expect(() => modulesOf(`'''${info}`, 'nonsense(', "'''")).toThrow(`line 1 says "${info}"`)
  })

  it('refuses a fence that does not end', () => {
    expect(() => modulesOf('text', "'''ts", 'const a = 1')).toThrow('line 2 does not end')
  })

  it('leaves other languages alone', () => {
    expect(modulesOf("'''json", '{', "'''", "'''", 'plain', "'''", "'''tree", 'x', "'''")).toEqual([])
  })
})
