// What is written, where, and what is refused.
import { createProcessorPackage, CreateError } from 'create-lockstep-processor'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let folder = ''
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'lockstep-create-'))))
afterAll(() => rm(folder, { recursive: true }))

const readIn = async (path: string) => readFile(join(folder, path), 'utf8')
const jsonIn = async (path: string) => JSON.parse(await readIn(path)) as Record<string, Record<string, string>>

describe('a new package', () => {
  it('is named after its folder, and so are its file, its function and its id', async () => {
    const created = await createProcessorPackage({ folder: join(folder, 'deep/er/word-guard2') })
    expect(created).toEqual({
      name: 'word-guard2',
      folder: join(folder, 'deep/er/word-guard2'),
      files: [
        '.changeset/config.json',
        '.changeset/first-version.md',
        '.gitignore',
        'README.md',
        'package.json',
        'src/word-guard2.ts',
        'test/word-guard2.test.ts',
        'tsconfig.build.json',
        'tsconfig.json',
      ],
    })
    const source = await readIn('deep/er/word-guard2/src/word-guard2.ts')
    expect(source).toContain('export function wordGuard2(')
    expect(source).toContain("id: 'word-guard2'")
    expect(source).toContain('interface WordGuard2Options')
  })

  it('has the name that it is given, with a scope', async () => {
    const created = await createProcessorPackage({ folder: join(folder, 'Some Folder'), name: '@acme/tone' })
    expect(created.name).toBe('@acme/tone')
    expect((await jsonIn('Some Folder/package.json'))['name']).toBe('@acme/tone')
    expect(await readIn('Some Folder/.changeset/first-version.md')).toContain("'@acme/tone': minor")
    expect(await readIn('Some Folder/test/tone.test.ts')).toContain("import { tone } from '../src/tone.ts'")
  })

  it('asks for the versions that this repository is tested with', async () => {
    await createProcessorPackage({ folder: join(folder, 'versions') })
    const { devDependencies = {}, peerDependencies = {} } = await jsonIn('versions/package.json')
    const own = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
    const root = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const testing = JSON.parse(await readFile(new URL('../../testing/package.json', import.meta.url), 'utf8')) as {
      readonly peerDependencies: Readonly<Record<string, string>>
    }
    expect(peerDependencies).toEqual({ '@lockstep/processors': `^${own.version}` })
    expect(devDependencies).toEqual({
      '@lockstep/processors': `^${own.version}`,
      '@lockstep/testing': `^${own.version}`,
      ai: testing.peerDependencies['ai'],
      typescript: `^${root.devDependencies['typescript']}`,
      vitest: `^${root.devDependencies['vitest']}`,
      zod: `^${root.devDependencies['zod']}`,
    })
  })

  it('goes into a folder that is there and empty, but for git', async () => {
    await mkdir(join(folder, 'cloned/.git'), { recursive: true })
    expect((await createProcessorPackage({ folder: join(folder, 'cloned') })).name).toBe('cloned')
  })
})

describe('nothing is written', () => {
  it('into a folder with something in it', async () => {
    const used = join(folder, 'used-guard')
    await mkdir(used)
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(file => writeFile(join(used, file), 'mine')))
    await expect(createProcessorPackage({ folder: used })).rejects.toMatchObject({
      code: 'folder-in-use',
      message: `The folder ${used} has a, b, c and 2 more in it. Give a path where nothing is yet.`,
    })
    expect(await readdir(used)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('where a file is', async () => {
    await writeFile(join(folder, 'a-file'), 'mine')
    const make = createProcessorPackage({ folder: join(folder, 'a-file') })
    await expect(make).rejects.toMatchObject({ code: 'not-a-folder' })
    await expect(createProcessorPackage({ folder: join(folder, 'a-file/in-it') })).rejects.toMatchObject({
      code: 'not-a-folder',
    })
  })

  it.each([
    ['My Guard', 'my-guard'],
    ['MyGuard', 'my-guard'],
    ['my_guard', 'my-guard'],
    ['-guard-', 'guard'],
    ['2fast', 'fast'],
    ['@acme/', 'my-guard'],
    ['@acme/My Guard', 'my-guard'],
    ['', 'my-guard'],
    ['..', 'my-guard'],
    ['schön', 'sch-n'],
    ['a'.repeat(215), '214'],
    ['@acme/../../x', 'x'],
    ['class', 'class-guard'],
    ['fs', 'fs-guard'],
    ["x'; process.exit()", 'x-process-exit'],
  ])('for the name %j, and a better one is named', async (name, better) => {
    const target = join(folder, 'no-name')
    const error = await createProcessorPackage({ folder: target, name }).catch((thrown: unknown) => thrown)
    expect(CreateError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ code: 'bad-name', message: expect.stringContaining(better) })
    expect(await readdir(folder)).not.toContain('no-name')
  })
})
