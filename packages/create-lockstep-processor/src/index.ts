// Writes the package of a processor. The command is in cli.ts.
export { createProcessorPackage } from './processor-package.ts'
export type { CreatedPackage, PackageOptions } from './processor-package.ts'
export { CreateError } from './errors.ts'
export type { CreateErrorCode } from './errors.ts'
