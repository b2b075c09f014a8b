import { testCrashes } from './crashes.ts'
import { STORIES } from './stories.ts'

testCrashes('client', STORIES)
