import { testCrashes } from './crashes.ts'
import { STORIES } from './stories.ts'

// The longest are told by `npm run test:soak -- --points`, with all others.
const {
  'a gap of several pages': _,
  'an answer that is stopped, another one, and back': __,
  ...stories
} = STORIES

testCrashes('server', stories)
