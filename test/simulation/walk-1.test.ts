import { testWalks } from './walks.ts'

testWalks(0, 150)
