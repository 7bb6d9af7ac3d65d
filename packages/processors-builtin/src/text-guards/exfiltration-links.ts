// A processor for links that carry what was said in a conversation to somebody else.
import { checkStrategy } from '../strategy.ts'
import type { Processor, ProcessorContext } from '@lockstep/processors'
import { AllowedHosts, guardedLinks, type LinkRules } from './guarded-links.ts'
import { isMentioned } from './mentioned-addresses.ts'
import { rewriteAnswer } from '../texts/rewritten-answer.ts'
import { RewrittenStream } from '../texts/rewritten-stream.ts'
import { rewriteWith, type OpenText } from '../texts/rewritten-text.ts'
import { rewriteValue } from '../texts/rewritten-value.ts'

/** What is done with a link: `remove` takes its address out, `block` refuses the answer, `warn` tells and leaves it. */
export type LinkStrategy = 'remove' | 'block' | 'warn'

/** That a link was found that may carry data to a host that is not allowed. */
export interface LinkFinding {
  readonly strategy: LinkStrategy
  readonly where: 'text' | 'reasoning' | 'tool-input' | 'result'
  /** As it was written. */
  readonly address: string
}

/** Options of the guard. */
export interface ExfiltrationLinksOptions {
  /** Hosts to which links may lead: `'example.com'` is that host, `'*.example.com'` all below it. None when absent. */
  readonly allow?: readonly string[]
  /** `'remove'` when absent. */
  readonly strategy?: LinkStrategy
  /** Links that stand in what the user wrote may be said, and given to tools; true when absent. */
  readonly allowMentioned?: boolean
  /** The tools whose inputs are looked at: all when absent. */
  readonly tools?: boolean | readonly string[]
  /** What takes the place of an address: `'#link-removed'` when absent. */
  readonly replacement?: string
  /** A block asks the model for another answer. */
  readonly retry?: boolean
  readonly onLink?: (finding: LinkFinding) => void
}

type Context = Pick<ProcessorContext<LinkFinding>, 'state' | 'abort' | 'messageList' | 'retryCount'>

const places: readonly string[] = ['text', 'reasoning', 'result']
const reason = 'Links and images may only lead to hosts that are allowed. Answer without the others.'

/** A model that does the same again and again is not asked for ever. */
const maxRetryCount = 3

/**
 * A processor that finds links and images whose address can carry data to a host that is not allowed: a reader's browser
 * loads an image without being asked.
 *
 * *Order*: in `outputProcessors`, after processors that write text.
 * *Cost*: every character is read once; a link is held until it ends.
 * *Throws*: `invalid-host`, `invalid-strategy`.
 */
export function exfiltrationLinks(
  options: ExfiltrationLinksOptions = {},
): Processor<'exfiltration-links', LinkFinding> {
  const { strategy = 'remove', replacement = '#link-removed', tools = true, allowMentioned = true } = options
  checkStrategy('exfiltration-links', strategy, ['remove', 'block', 'warn'])
  const hosts = new AllowedHosts(options.allow ?? [])
  const runs = new WeakMap<object, RewrittenStream<Context>>()
  const rulesOf = (where: LinkFinding['where'], current: () => Context): LinkRules => ({
    refuses: (written, isLoaded) => {
      const isCut = replacement.startsWith('#') && written.endsWith(replacement)
      const address = isCut ? written.slice(0, -replacement.length) : written
      return hosts.refuses(address, isLoaded) && !(allowMentioned && isMentioned(address, current().messageList))
    },
    replace(address) {
      const finding = { strategy, where, address }
      options.onLink?.(finding)
      if (strategy === 'block')
        current().abort(reason, {
          retry: options.retry === true && current().retryCount < maxRetryCount,
          metadata: finding,
        })
      return strategy === 'warn' ? undefined : replacement
    },
  })
  const open: OpenText<Context> = (where, current) =>
    places.includes(where) ? guardedLinks(rulesOf(where as LinkFinding['where'], current)) : undefined
  const streamOf = ({ state }: Context) => {
    let stream = runs.get(state)
    if (!stream) runs.set(state, (stream = new RewrittenStream(open)))
    return stream
  }

  return {
    id: 'exfiltration-links',
    name: 'Exfiltration links',
    description: 'Takes links out that may carry data to hosts that are not allowed.',

    processOutputStream: context => streamOf(context).pass(context.part, context),

    flush: context => streamOf(context).flush(context.blockId, context.runId, context),

    processToolCall(context) {
      if (!(typeof tools === 'boolean' ? tools : tools.includes(context.toolName))) return
      const rules = rulesOf('tool-input', () => context)
      let denied: string | undefined
      const note = (address: string) => {
        if (denied === undefined && rules.replace(address) !== undefined) denied = address
        return undefined
      }
      rewriteValue(context.input, text => {
        // A value may be an address without anything around it that says so.
        if (rules.refuses(text, false)) note(text)
        else
          rewriteWith(
            () => guardedLinks({ ...rules, replace: note }),
            'tool-input',
            () => context,
          )(text)
        return text
      })
      return denied === undefined ? undefined : { deny: `The input has an address that is not allowed: ${denied}` }
    },

    processOutputResult: context =>
      rewriteAnswer(
        context.messages,
        rewriteWith(open, 'result', () => context),
        ({ type }) => type === 'text' || type === 'reasoning',
      ),
  }
}
