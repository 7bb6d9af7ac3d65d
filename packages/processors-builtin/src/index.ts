// The builtins by name; each processor has a subpath of its own.
export { loadBuiltin } from './builtins.ts'
export type { BuiltinChoice, BuiltinName, Builtins, JudgeChoice } from './builtins.ts'
export { BuiltinError, type BuiltinErrorCode } from './errors.ts'
