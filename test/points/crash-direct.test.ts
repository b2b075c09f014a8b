import { testCrashes } from './crashes.ts'
import { DIRECT } from './stories.ts'

testCrashes('client', DIRECT, ', without a server')
