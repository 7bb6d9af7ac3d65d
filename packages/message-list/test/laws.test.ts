import { validateUIMessages, modelMessageSchema } from 'ai'
import { convertToLanguageModelPrompt } from 'ai/internal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyOverlay,
  diff,
  isToolPart,
  MessageList,
  overlayOf,
  returnedEdits,
  type AgentMessage,
  type Edit,
  type MessagePart,
  type ToolPart,
} from '@lockstep/message-list'
import { list, messages, newList, source } from './arbitraries.ts'
import { expectFrozen } from './reading.ts'

const runCount = process.env['LOCKSTEP_LAW_RUNS']
if (runCount !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: Number(runCount) })

/** What the prompt says of itself. */
function hasFiles(of: MessageList): boolean {
  let told = false
  of.get.all.prompt({ onFiles: () => (told = true) })
  return told
}

const outputs = (of: MessageList) => ({
  db: of.get.all.db(),
  ui: of.get.all.ui(),
  model: of.get.all.model(),
  prompt: of.get.all.prompt(),
  hasFiles: hasFiles(of),
})
const reasoningItem = { type: 'reasoning', text: 'hm', providerMetadata: { openai: { itemId: 'rs_1' } } } as const
const json = (value: unknown) => JSON.parse(JSON.stringify(value))
// Values that fast-check made are used again while it shrinks, so every property works on a fork of its list.

describe('formats', () => {
  it('come out the same after a detour through storage', () =>
    fc.assert(
      fc.property(list, base => {
        const given = base.fork()
        expect(outputs(newList().add(json(given.get.all.db()), 'input'))).toEqual(
          outputs(newList().add(given.get.all.db(), 'input')),
        )
        expect(outputs(MessageList.fromJSON(JSON.stringify(given)))).toEqual(outputs(given))
      }),
    ))

  it('tell of files where there are some', () =>
    fc.assert(
      fc.property(list, given => {
        const files = given.get.all
          .prompt()
          .flatMap(({ content }): readonly { readonly type: string }[] => (typeof content === 'string' ? [] : content))
          .filter(({ type }) => type === 'file' || type === 'reasoning-file')
        expect(hasFiles(given)).toBe(files.length > 0)
      }),
    ))

  it('are those of the conversation read at once, however it grew', () =>
    fc.assert(
      fc.property(messages, fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(5)), { maxLength: 8 }), (given, edits) => {
        const grown = newList()
        const before = [grown.snapshot()]
        const check = () => expect(outputs(MessageList.fromJSON(JSON.stringify(grown)))).toEqual(outputs(grown))
        for (const { id, role, content } of given) {
          grown.add({ id, role, createdAt: '2026-01-01T00:00:00.000Z', content: { format: 2, parts: [] } }, 'response')
          for (const part of content.parts) {
            grown.append(id!, [part])
            check()
          }
          before.push(grown.snapshot())
        }
        for (const [at, place, kind] of edits) {
          const message = grown.at(at % Math.max(1, given.length))
          if (message === undefined) continue
          const index = place % (message.content.parts.length + 1)
          if (kind === 5) grown.restore(before[at % before.length]!)
          else
            grown.update(message.id, ({ content: { parts } }) => {
              if (kind === 0) parts.splice(index, 1)
              else if (kind === 1) parts.splice(index, 0, { type: 'step-start' })
              else if (kind === 2) parts.splice(index, 0, { type: 'text', text: 'between' })
              else if (kind === 3) parts.splice(index, 0, reasoningItem)
              else parts.reverse()
            })
          check()
        }
      }),
    ))

  it('are those of the conversation read at once, whatever way an answer went', () => {
    const move = fc.record({
      kind: fc.constantFrom('step', 'part', 'result', 'role', 'back', 'fork'),
      which: fc.nat(9),
      isRead: fc.boolean(),
    })
    const call = (id: string) =>
      ({ type: 'tool-t', toolCallId: id, state: 'input-available', input: {} }) as Extract<MessagePart, ToolPart>
    const begin = ['a', 'b'].flatMap(id => [{ type: 'step-start' as const }, call(id)])
    const check = (of: MessageList) => expect(outputs(MessageList.fromJSON(JSON.stringify(of)))).toEqual(outputs(of))
    fc.assert(
      fc.property(fc.array(move, { maxLength: 16 }), moves => {
        let grown = newList().add({ id: 'r', role: 'assistant', parts: begin }, 'response')
        const before = [grown.snapshot()]
        const forks = [grown]
        for (const [index, { kind, which, isRead }] of moves.entries()) {
          const open = grown
            .find('r')!
            .content.parts.filter(isToolPart)
            .filter(({ state }) => state === 'input-available')
          if (kind === 'step') grown.append('r', [{ type: 'step-start' }, call(`c${index}`)])
          else if (kind === 'part') grown.append('r', [which < 2 ? reasoningItem : { type: 'text', text: `${index}` }])
          else if (kind === 'result' && open.length > 0)
            grown.updateTool(open[which % open.length]!.toolCallId, { state: 'output-available', output: index })
          else if (kind === 'role') grown.update('r', draft => void (draft.role = which < 5 ? 'user' : 'assistant'))
          else if (kind === 'back') grown.restore(before[which % before.length]!)
          else if (kind === 'fork') {
            forks.push(grown.fork())
            grown = forks[which % forks.length]!
          }
          before.push(grown.snapshot())
          if (isRead) check(grown)
        }
        forks.forEach(check)
      }),
    )
  })

  it('give UI messages back as they came', () =>
    fc.assert(
      fc.property(messages, given => {
        const ui = newList().add(given, 'input').get.all.ui()
        expect(newList().add(ui, 'input').get.all.ui()).toEqual(ui)
        expect(newList().add(json(ui), 'input').get.all.ui()).toEqual(ui)
      }),
    ))

  it('give model messages back as they came, directly and through storage', () =>
    fc.assert(
      fc.property(messages, given => {
        const model = newList().add(given, 'input').get.all.model()
        const again = newList().add(model, 'input')
        const stored = newList().add(json(again.get.all.db()), 'input')
        expect(outputs(stored)).toEqual(outputs(again))
        const twice = newList().add(again.get.all.model(), 'input')
        expect(twice.get.all.model()).toEqual(again.get.all.model())
        expect(twice.get.all.prompt()).toEqual(again.get.all.prompt())
      }),
    ))

  it('are accepted by the AI SDK, whatever is in the list', () =>
    fc.assert(
      fc.asyncProperty(list, async given => {
        const { ui, model } = outputs(given)
        if (ui.length > 0) expect(await validateUIMessages({ messages: ui })).toHaveLength(ui.length)
        for (const message of model) modelMessageSchema.parse(message)
      }),
    ))

  it('make the prompt that the AI SDK makes of the same model messages', () =>
    fc.assert(
      fc.asyncProperty(messages, async given => {
        const of = newList().add('Hello.', 'input').add(given, 'input').addSystem('Be kind.')
        // Calls at the end that were asked about are left for the AI SDK to go on with: there the two differ.
        fc.pre(!JSON.stringify(of.getMessages().at(-1)).includes('"approval-re'))
        const sdk = await convertToLanguageModelPrompt({
          prompt: { instructions: of.getAllSystemMessages() as never, messages: of.get.all.model() },
          supportedUrls: { '*': [/.*/] },
          download: async requests => requests.map(() => null),
        })
        expect(json(of.get.all.prompt())).toEqual(json(sdk))
      }),
    ))
})

describe('stored data', () => {
  it('is frozen to the leaves, and so is everything that is made of it', () =>
    fc.assert(
      fc.property(list, messages, (base, more) => {
        const given = base.fork()
        given.add(given.get.all.model(), 'input').add(json(given.get.all.ui()), 'input')
        for (const [position, message] of given.getMessages().entries()) {
          given.update(message.id, draft => {
            draft.content.parts.push({ type: 'text', text: `${position}` })
            draft.content.metadata = { at: position, nested: { list: [1] } }
          })
        }
        given.as({ id: 'x' }).add(
          more.map(({ id: _, ...message }) => message),
          'context',
        )
        expectFrozen(given.getMessages())
        expectFrozen(given.changes)
        expectFrozen(given.toJSON())
        expectFrozen(given.get.all.ui())
        expectFrozen(given.get.all.model())
        expectFrozen(given.get.response.db())
        given.get.all.prompt().forEach(message => expectFrozen(message))
      }),
    ))

  it('is as valid as it is with one more field, which nobody knows', () => {
    const values = ['', 'x', 'done', 'input-available', 'output-available', 1, null, true, {}, [], undefined]
    const types = ['text', 'reasoning', 'step-start', 'tool-x', 'tool-', 'dynamic-tool', 'file', 'data-x', '', 1]
    const states = ['done', 'streaming', 'input-streaming', 'input-available', 'output-available', 'output-error', 'x']
    const part = fc.record(
      {
        type: fc.constantFrom(...types),
        state: fc.constantFrom(...states),
        text: fc.constantFrom(...values),
        toolCallId: fc.constantFrom(...values),
        input: fc.constantFrom(...values),
        output: fc.constantFrom(...values),
        errorText: fc.constantFrom(...values),
      },
      { requiredKeys: ['type'] },
    )
    const fault = (given: object) => {
      try {
        new MessageList().add({ id: 'a', role: 'assistant', content: { format: 2, parts: [given] } } as never, 'memory')
      } catch (error) {
        return String(error)
      }
      return undefined
    }
    const seen = { valid: 0, invalid: 0 }
    fc.assert(
      fc.property(part, given => {
        const found = fault(given)
        expect(found).toBe(fault({ ...given, unknown: 1 }))
        seen[found === undefined ? 'valid' : 'invalid']++
      }),
      { numRuns: 3_000 },
    )
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(100)
  })

  it('leaves what the caller gave alone', () =>
    fc.assert(
      fc.property(messages, given => {
        const mine = json(given)
        const before = json(mine)
        const of = newList().add(mine, 'input')
        for (const message of mine) message.content.parts.push({ type: 'text', text: 'mine' })
        expect(of.get.all.db()).toEqual(newList().add(before, 'input').get.all.db())
      }),
    ))
})

/** Something to do to a list, chosen by numbers. */
const action = fc.oneof(
  fc.record({ type: fc.constant('add' as const), text: fc.string(), source }),
  fc.record({ type: fc.constant('update' as const), at: fc.nat(), text: fc.string() }),
  fc.record({ type: fc.constant('cut' as const), at: fc.nat(), part: fc.nat() }),
  fc.record({ type: fc.constant('remove' as const), at: fc.nat() }),
  fc.record({ type: fc.constant('order' as const), by: fc.nat() }),
  fc.record({ type: fc.constant('system' as const), text: fc.string() }),
  fc.record({ type: fc.constant('draft' as const), at: fc.nat(), text: fc.string() }),
  fc.record({ type: fc.constant('clear' as const), source }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

const act = (on: MessageList, what: Action): void => {
  const ids = on.getMessages().map(message => message.id)
  const at = 'at' in what && ids.length > 0 ? ids[what.at % ids.length]! : undefined
  switch (what.type) {
    case 'add':
      return void on.add(what.text, what.source)
    case 'update':
      if (at !== undefined) on.update(at, draft => draft.content.parts.unshift({ type: 'text', text: what.text }))
      return
    case 'cut':
      if (at !== undefined)
        on.update(at, draft => draft.content.parts.splice(what.part % (draft.content.parts.length + 1), 2))
      return
    case 'remove':
      if (at !== undefined) on.removeByIds([at])
      return
    case 'order':
      return void on.apply([{ type: 'order', ids: rotated(ids, what.by) }])
    case 'system':
      return void on.addSystem(what.text)
    case 'draft':
      return void on.draft(draft => {
        const moved = draft.splice(what.at % (draft.length + 1), 1)
        draft.unshift(...moved, {
          id: `d-${what.text}-${what.at}-${ids.length}`,
          role: 'user',
          createdAt: '2026-01-01T00:00:00Z',
          content: { format: 2, parts: [{ type: 'text', text: what.text }] },
        })
      })
    case 'clear':
      return void on.clear(what.source)
  }
}
const rotated = <T>(values: readonly T[], by: number): T[] =>
  values.map((_, index) => values[(index + by) % values.length]!)
const stateOf = (of: MessageList) => ({ saved: of.toJSON() })
const safely = (on: MessageList, what: Action): void => {
  try {
    act(on, what)
  } catch {
    // A draft may invent an id that is there already: the list must be as it was, which the laws check.
  }
}

describe('changes', () => {
  it('can all be taken back, the newest first', () =>
    fc.assert(
      fc.property(list, fc.array(action, { maxLength: 6 }), (base, actions) => {
        const given = base.fork()
        const states = [stateOf(given)]
        const begin = given.changes.length
        for (const what of actions) {
          const count = given.changes.length
          safely(given, what)
          if (given.changes.length > count) states.push(stateOf(given))
        }
        for (const change of given.changes.slice(begin).toReversed()) {
          expect(stateOf(given)).toEqual(states.pop())
          given.undo(change)
        }
        expect(stateOf(given)).toEqual(states.pop())
      }),
    ))

  it('lead from one snapshot to the next wherever they are applied', () =>
    fc.assert(
      fc.property(list, fc.array(action, { maxLength: 6 }), (base, actions) => {
        const given = base.fork()
        const other = given.fork()
        const begin = given.changes.length
        for (const what of actions) safely(given, what)
        for (const change of given.changes.slice(begin)) other.apply(change.edits)
        expect(stateOf(other)).toEqual(stateOf(given))
      }),
    ))

  it('leave the identity of everything else as it was', () =>
    fc.assert(
      fc.property(list, action, (base, what) => {
        const given = base.fork()
        const before = given.snapshot()
        safely(given, what)
        const after = new Set(given.getMessages())
        const { removed, replaced } = diff(before, given.snapshot())
        const touched = new Set([...removed, ...replaced.map(pair => pair.before)])
        for (const message of before.messages) expect(after.has(message)).toBe(!touched.has(message))
        for (const pair of replaced) expect(JSON.stringify(pair.before)).not.toBe(JSON.stringify(pair.after))
      }),
    ))

  it('that change nothing are no changes', () =>
    fc.assert(
      fc.property(list, base => {
        const given = base.fork()
        const snapshot = given.snapshot()
        for (const message of given.getMessages())
          given.update(message.id, draft => void draft.content.parts.splice(0, 0))
        for (const message of given.getMessages())
          given.update(message.id, draft => void (draft.content = json(draft.content)))
        for (const message of given.getMessages()) given.add(json(message), given.sourceOf(message.id)!)
        given.add(given.getMessages(), 'context').add(json(given.get.all.ui()), 'context')
        given
          .draft(() => {})
          .draft(draft => void draft.reverse().reverse())
          .apply([])
          .replaceAllSystemMessages(given.getAllSystemMessages())
        expect(given.snapshot()).toBe(snapshot)
      }),
    ))

  it('are gone with a restored snapshot, and do not reach a fork', () =>
    fc.assert(
      fc.property(list, fc.array(action, { maxLength: 5 }), (base, actions) => {
        const given = base.fork()
        const snapshot = given.snapshot()
        const fork = given.fork()
        for (const what of actions) safely(given, what)
        expect(fork.snapshot()).toBe(snapshot)
        expect(given.restore(snapshot).snapshot()).toBe(snapshot)
        for (const message of snapshot.messages) expect(given.find(message.id)).toBe(message)
        for (const what of actions) safely(fork, what)
        expect(given.snapshot()).toBe(snapshot)
      }),
    ))
})

describe('a list after any history', () => {
  it('finds each message, and only those it has', () =>
    fc.assert(
      fc.property(list, fc.array(action, { maxLength: 12 }), (base, actions) => {
        const given = base.fork()
        const seen = new Set<string>()
        for (const what of actions) {
          safely(given, what)
          given.getMessages().forEach(message => seen.add(message.id))
          const here = new Map(given.getMessages().map(message => [message.id, message]))
          for (const id of seen) expect(given.find(id)).toBe(here.get(id))
        }
        const bySource = (['memory', 'input', 'response', 'context'] as const).map(name =>
          given.getMessages().filter(message => given.sourceOf(message.id) === name),
        )
        expect([
          given.get.remembered.db(),
          given.get.input.db(),
          given.get.response.db(),
          given.get.context.db(),
        ]).toEqual(bySource)
      }),
    ))

  it('says the same as one that was made of its messages at once', () =>
    fc.assert(
      fc.property(list, fc.array(action, { maxLength: 12 }), (base, actions) => {
        const given = base.fork()
        for (const what of actions) {
          safely(given, what)
          given.get.all.prompt()
          given.get.all.ui()
        }
        const made = newList()
          .add(json(given.getMessages()), 'input')
          .replaceAllSystemMessages(given.getAllSystemMessages())
        expect(outputs(made)).toEqual(outputs(given))
      }),
    ))
})

/** What a processor might return: some messages dropped, some changed, some moved, some new. */
const rewrite = fc.record({
  drop: fc.nat(7),
  change: fc.nat(7),
  rotate: fc.nat(3),
  insert: fc.array(fc.nat(8), { maxLength: 3 }),
})
type Rewrite = typeof rewrite extends fc.Arbitrary<infer T> ? T : never

const rewritten = (given: readonly AgentMessage[], { drop, change, rotate, insert }: Rewrite) => {
  const kept = given
    .filter((_, index) => index !== drop)
    .map((message, index) =>
      index === change
        ? { ...message, content: { ...message.content, parts: [{ type: 'text' as const, text: 'changed' }] } }
        : message,
    )
  const returned: (AgentMessage | string)[] = rotated(kept, rotate)
  for (const place of insert) returned.splice(place, 0, `new at ${place}`)
  return returned
}
const contents = (of: readonly AgentMessage[]) => of.map(message => message.content)

describe('a returned array', () => {
  it('means the same in the list and over it', () =>
    fc.assert(
      fc.property(list, rewrite, (base, how) => {
        const given = base.fork()
        const before = given.getMessages()
        const returned = rewritten(before, how)
        const { edits } = returnedEdits(before, returned, { list: given, source: 'context' })
        const expected = returned.map(message =>
          typeof message === 'string' ? { format: 2, parts: [{ type: 'text', text: message }] } : message.content,
        )
        expect(contents(applyOverlay(before, overlayOf(edits)))).toEqual(expected)
        expect(given.getMessages()).toBe(before)
        expect(contents(given.apply(edits).getMessages())).toEqual(expected)
      }),
    ))
})

describe('an overlay', () => {
  const overlaid = (given: MessageList, hows: readonly Rewrite[]) => {
    let overlay = overlayOf([])
    for (const how of hows) {
      const before = applyOverlay(given.getMessages(), overlay)
      const { edits } = returnedEdits(before, rewritten(before, how), { list: given, source: 'context' })
      overlay = overlayOf(edits, overlay)
    }
    return overlay
  }

  it('adds up over a chain of processors', () =>
    fc.assert(
      fc.property(list, fc.array(rewrite, { maxLength: 4 }), (base, hows) => {
        const given = base.fork()
        let expected: readonly AgentMessage[] = given.getMessages()
        let overlay = overlayOf([])
        for (const how of hows) {
          const { edits } = returnedEdits(expected, rewritten(expected, how), { list: given, source: 'context' })
          overlay = overlayOf(edits, overlay)
          expected = applyOverlay(expected, overlayOf(edits))
          expect(contents(applyOverlay(given.getMessages(), overlay))).toEqual(contents(expected))
        }
      }),
    ))

  it('makes the prompt of the messages under it', () =>
    fc.assert(
      fc.property(list, fc.array(rewrite, { maxLength: 3 }), (base, hows) => {
        const given = base.fork()
        const overlay = overlaid(given, hows)
        const made = newList().add(json(applyOverlay(given.getMessages(), overlay)), 'input')
        expect(given.get.all.prompt({ overlay })).toEqual(made.get.all.prompt())
      }),
    ))

  it('is data: an overlay that was read again does the same', () =>
    fc.assert(
      fc.property(list, fc.array(rewrite, { maxLength: 3 }), (base, hows) => {
        const given = base.fork()
        const overlay = overlaid(given, hows)
        expectFrozen(overlay)
        expect(applyOverlay(given.getMessages(), json(overlay))).toEqual(applyOverlay(given.getMessages(), overlay))
      }),
    ))

  it('holds whatever the list does to what is under it', () =>
    fc.assert(
      fc.property(list, rewrite, fc.array(action, { maxLength: 4 }), (base, how, actions) => {
        const given = base.fork()
        const before = given.getMessages()
        const overlay = overlaid(given, [how])
        const removed = overlay.edits.filter(edit => edit.type === 'remove').map(edit => edit.id)
        const replaced = overlay.edits.filter(edit => edit.type === 'replace').map(edit => edit.message)
        const added = overlay.edits.filter(edit => edit.type === 'insert').map(edit => edit.message)
        for (const what of actions) safely(given, what)
        const after = applyOverlay(given.getMessages(), overlay)
        for (const id of removed) expect(after.some(message => message.id === id)).toBe(false)
        for (const message of replaced) expect(after.includes(message)).toBe(given.find(message.id) !== undefined)
        for (const message of added) expect(after).toContain(message)
        const gained = given.add('gained', 'response').getMessages().at(-1)!
        const under = applyOverlay(given.getMessages(), overlay).filter(message => !added.includes(message))
        expect(under.at(-1)).toBe(gained)
        const ids = new Set([...added, ...given.getMessages()].map(message => message.id))
        const isPlaced = overlay.edits.every(edit => edit.type !== 'insert' || ids.has(edit.after ?? edit.before ?? ''))
        if (isPlaced) expect(applyOverlay(given.getMessages(), overlay).at(-1)).toBe(gained)
        expect(applyOverlay(before, overlayOf([]))).toBe(before)
      }),
    ))

  it('refuses what it cannot hold', () => {
    const edits: Edit[] = [{ type: 'patch', id: 'm', patches: [] }]
    expect(() => overlayOf(edits)).toThrow('Replace the message instead of patching it')
  })
})
