/**
 * What tests of apps, storages and servers need.
 * @module tidemark/testing
 */
export type {
  Script,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptPiece,
  ScriptStep,
} from './testing/scripted-model.ts'
export { createHold, scriptedModel } from './testing/scripted-model.ts'
export type {
  ScriptedAnswer,
  ScriptedExchange,
  ScriptedRequest,
  ServerMove,
  ServerScript,
  ServerStep,
} from './testing/scripted-server.ts'
export { scriptedExchange, scriptedFetch } from './testing/scripted-server.ts'
export type { Chance } from './testing/sim/chance.ts'
export { createChance } from './testing/sim/chance.ts'
export type { Batch, Disk, DiskOptions, StorageFault, StorageOperation } from './testing/sim/disk.ts'
export { createDisk } from './testing/sim/disk.ts'
export type { Network, NetworkFault, NetworkOptions, NetworkStage } from './testing/sim/network.ts'
export { createNetwork } from './testing/sim/network.ts'
export type { Origin, SimulatedPage } from './testing/sim/page.ts'
export { createOrigin } from './testing/sim/page.ts'
export type { Actor, Schedule, Task } from './testing/sim/schedule.ts'
export { createSchedule } from './testing/sim/schedule.ts'
export type { StorageUnderTest, TestTools } from './testing/storage-case.ts'
export { storageContract } from './testing/storage-contract.ts'
