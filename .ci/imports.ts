// What a source file imports, read from its syntax tree: static, dynamic and re-exported, in types and at run time.
import { parseSync, Visitor, type StringLiteral } from 'oxc-parser'
import { read } from './repository.ts'

export interface Import {
  readonly specifier: string
  /** Whether it is gone once the types are stripped. */
  readonly typeOnly: boolean
}

/** The imports of a file, by its path from the root. */
export const importsOf = (file: string): readonly Import[] => {
  const { program, errors } = parseSync(file, read(file))
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found: Import[] = []
  const note = (source: StringLiteral | null, typeOnly: boolean) => {
    if (source) found.push({ specifier: source.value, typeOnly })
  }
  new Visitor({
    ImportDeclaration: node => note(node.source, node.importKind === 'type'),
    ExportNamedDeclaration: node => note(node.source, node.exportKind === 'type'),
    ExportAllDeclaration: node => note(node.source, node.exportKind === 'type'),
    TSImportType: node => note(node.source, true),
    ImportExpression: node => note(node.source.type === 'Literal' ? (node.source as StringLiteral) : null, false),
  }).visit(program)
  return found
}

/** The package that a specifier names: `ai` for `ai/test`, nothing for a relative path or a part of Node. */
export const packageOf = (specifier: string): string | undefined =>
  /^(\.|node:|#)/.test(specifier) ? undefined : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
