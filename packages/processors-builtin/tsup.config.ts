import { preset } from '../../tsup.preset.ts'

export default preset([
  'src/index.ts',
  'src/redactor.ts',
  'src/secret-redactor.ts',
  'src/budget.ts',
  'src/loop-detector.ts',
])
