// What the types of the contract say. Checked by `tsc`, never run.
import type {
  Abort,
  Chunk,
  ChunkNamed,
  ChunkType,
  ErrorProcessor,
  InputProcessor,
  MastraDBMessage,
  OutputProcessor,
  Processor,
  ProcessorMessageResult,
  StopReason,
  TripwirePayload,
} from '@lockstep/processors'
import type { AgentMessage } from '@lockstep/message-list'
import { expectTypeOf } from 'vitest'

interface Scores {
  scores: number[]
}

const judge: Processor<'judge', { readonly score: number }, Scores> = {
  id: 'judge',
  processOutputStep({ text, state, abort }) {
    expectTypeOf(state).toEqualTypeOf<Partial<Scores>>()
    state.scores ??= []
    state.scores.push(text.length)
    // @ts-expect-error the metadata of this processor is a score
    if (text === 'x') abort('no', { metadata: { points: 1 } })
    if (text === '') abort('no', { retry: true, metadata: { score: 0 } })
  },
}
expectTypeOf(judge.id).toEqualTypeOf<'judge'>()

const observer: Processor = {
  id: 'observer',
  processStepEnd({ abort }) {
    expectTypeOf(abort).toEqualTypeOf<Abort<never>>()
  },
}

const input: InputProcessor = { id: 'in', processInput: ({ messages }) => [...messages] }
const output: OutputProcessor = { id: 'out', processOutputStream: ({ part }) => part }
const error: ErrorProcessor = { id: 'err', processAPIError: ({ retryCount }) => ({ retry: retryCount === 0 }) }
// @ts-expect-error an input processor has an input hook
const noInput: InputProcessor = { id: 'in', processOutputStep: () => {} }
// @ts-expect-error an error processor has processAPIError
const noError: ErrorProcessor = { id: 'err', processInput: () => {} }
// @ts-expect-error a processor has an id
const nameless: Processor = { processInput: () => {} }
// @ts-expect-error a step has no such setting
const misspelt: Processor = { id: 'x', processInputStep: () => ({ toolchoice: 'none' }) }

expectTypeOf<ChunkType>().toEqualTypeOf<Chunk>()
expectTypeOf<MastraDBMessage>().toEqualTypeOf<AgentMessage>()
expectTypeOf<undefined>().toExtend<ProcessorMessageResult>()
expectTypeOf<ChunkNamed<'text-delta'>['payload']['text']>().toEqualTypeOf<string>()
expectTypeOf<ChunkNamed<'tripwire'>['payload']>().toEqualTypeOf<TripwirePayload>()
expectTypeOf<ChunkNamed<'finish'>['payload']['stopReason']>().toEqualTypeOf<StopReason>()

/** Every chunk is named: a switch over them can be exhaustive. */
export function isFrame(chunk: Chunk): boolean {
  if ('data' in chunk) return false
  expectTypeOf(chunk.from).toEqualTypeOf<'AGENT'>()
  return chunk.type === 'start' || chunk.type === 'finish'
}

void [judge, observer, input, output, error, noInput, noError, nameless, misspelt]
