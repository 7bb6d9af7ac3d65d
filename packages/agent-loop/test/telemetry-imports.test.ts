import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const conditions = process.env['LOCKSTEP_BUILT'] === '1' ? [] : ['--conditions=@lockstep/source']

/** The files of this package that a run loads, in a process of its own. */
const loadedBy = async (options: string): Promise<readonly string[]> => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { runLoop } = await import('@lockstep/agent-loop')
    const { scriptedModel } = await import('@lockstep/agent-loop/testing')
    const { MessageList } = await import('@lockstep/message-list')
    const messageList = new MessageList().add('Hello', 'input')
    for await (const chunk of runLoop({ model: scriptedModel(['Hi.']), messageList, ...${options} }));
    console.log(JSON.stringify(loaded))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...conditions, '--no-warnings', '--input-type=module', '--eval', program],
    { cwd: import.meta.dirname },
  )
  return JSON.parse(stdout) as string[]
}

it('what tells integrations is loaded when there is one', async () => {
  const isTeller = (file: string) => /agent-loop\/.*\/(telemetry|processor-span)(\.ts|-\w+\.js)$/.test(file)
  expect((await loadedBy('{}')).filter(isTeller)).toEqual([])
  expect((await loadedBy('{ telemetry: { isEnabled: false, integrations: {} } }')).filter(isTeller)).toEqual([])
  expect((await loadedBy('{ telemetry: { integrations: {} } }')).filter(isTeller)).not.toEqual([])
})
