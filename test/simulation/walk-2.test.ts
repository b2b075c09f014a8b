import { testWalks } from './walks.ts'

testWalks(150, 300)
