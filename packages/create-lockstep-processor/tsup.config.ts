import { preset } from '../../tsup.preset.ts'

export default preset()
