export type {
  Script,
  ScriptedCall,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptPiece,
  ScriptStep,
} from './testing/scripted-model.ts'
export { createHold, scriptedModel } from './testing/scripted-model.ts'
