// What a source file imports, read from its syntax tree: static, dynamic and re-exported, in types and at run time.
import { parseSync, Visitor, type ModuleExportName, type StringLiteral } from 'oxc-parser'
import { read } from './repository.ts'

export interface Import {
  readonly specifier: string
  /** Whether it is gone once the types are stripped. */
  readonly typeOnly: boolean
  /** What is imported by name, under the name that the other side gives it. */
  readonly names: readonly string[]
}

const nameOf = (name: ModuleExportName): string => (name.type === 'Literal' ? name.value : name.name)

/** The imports of a file, by its path from the root. */
export const importsOf = (file: string): readonly Import[] => {
  const { program, errors } = parseSync(file, read(file))
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const found: Import[] = []
  const note = (source: StringLiteral | null, typeOnly: boolean, names: readonly ModuleExportName[] = []) => {
    if (source) found.push({ specifier: source.value, typeOnly, names: names.map(nameOf) })
  }
  new Visitor({
    ImportDeclaration({ source, importKind, specifiers }) {
      const names = specifiers.flatMap(given => (given.type === 'ImportSpecifier' ? [given.imported] : []))
      note(source, importKind === 'type', names)
    },
    ExportNamedDeclaration({ source, exportKind, specifiers }) {
      note(
        source,
        exportKind === 'type',
        specifiers.map(({ local }) => local),
      )
    },
    ExportAllDeclaration: ({ source, exportKind }) => note(source, exportKind === 'type'),
    TSImportType: ({ source }) => note(source, true),
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') note(source as StringLiteral, false)
    },
  }).visit(program)
  return found
}

/** The package that a specifier names: `ai` for `ai/test`, nothing for a relative path or a part of Node. */
export const packageOf = (specifier: string): string | undefined =>
  /^(\.|node:|#)/.test(specifier) ? undefined : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
