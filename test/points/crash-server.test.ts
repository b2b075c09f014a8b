import { testCrashes } from './crashes.ts'
import { STORIES } from './stories.ts'

// Long, and much of it what another device does: told by `npm run test:soak -- --points`.
const { 'a gap of several pages': _, ...stories } = STORIES

testCrashes('server', stories)
