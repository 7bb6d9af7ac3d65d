import { preset } from '../../tsup.preset.ts'

export default preset(['src/index.ts', 'src/in-memory.ts', 'src/sqlite.ts', 'src/postgres.ts', 'src/testing.ts'])
