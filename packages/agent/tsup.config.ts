import { preset } from '../../tsup.preset.ts'

export default preset(['src/index.ts', 'src/ai-sdk-agent.ts', 'src/ui-message-stream.ts'])
