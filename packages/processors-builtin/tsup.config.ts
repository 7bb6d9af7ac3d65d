import { preset } from '../../tsup.preset.ts'

export default preset(['src/index.ts', 'src/secret-redactor.ts'])
