// The names that a new processor has: in the registry, as an id, in the code.
import { isBuiltin } from 'node:module'
import { CreateError } from './errors.ts'

/** A processor's names, made of the name of its package. */
export interface ProcessorName {
  /** `@acme/my-guard` */
  readonly packageName: string
  /** `my-guard`: the id of the processor, and its file. */
  readonly id: string
  /** `myGuard` */
  readonly functionName: string
  /** `MyGuard` */
  readonly typeName: string
}

const pattern = /^(?:@[a-z0-9][a-z0-9._-]*\/)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/

// Names that JavaScript keeps for itself, or gives to something else in every module.
const reserved = new Set(
  `arguments async await break case catch class const continue debugger default delete do else enum eval export extends
  false finally for function if implements import in instanceof interface let new null package private protected public
  return static super switch this throw true try typeof undefined var void while with yield`.split(/\s+/),
)

/** Reads the name of a package. Throws: `bad-name`. */
export function processorName(packageName: string): ProcessorName {
  const id = pattern.exec(packageName)?.[1]
  const example = suggestion(packageName)
  if (id === undefined)
    throw new CreateError(
      'bad-name',
      `${JSON.stringify(packageName)} is no name for a package of a processor. Use small letters, digits and single dashes, and begin with a letter: ${example}.`,
    )
  if (packageName.length > 214)
    throw new CreateError('bad-name', `The name has ${packageName.length} characters; the registry takes 214.`)
  if (reserved.has(id) || isBuiltin(id))
    throw new CreateError('bad-name', `${JSON.stringify(id)} has a meaning already. Say more: ${id}-guard.`)
  const typeName = id
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  return { packageName, id, functionName: typeName.charAt(0).toLowerCase() + typeName.slice(1), typeName }
}

function suggestion(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/^@[^/]*\//, '')
    .match(/[a-z0-9]+/g)
  const id = words?.join('-').replace(/^[0-9-]+/, '') ?? ''
  return pattern.test(id) && id.length <= 214 ? id : 'my-guard'
}
