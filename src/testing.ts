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
export type { StorageUnderTest, TestTools } from './testing/storage-case.ts'
export { storageContract } from './testing/storage-contract.ts'
