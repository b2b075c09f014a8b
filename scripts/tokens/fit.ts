// Makes the tables of the token estimator from text with exact counts: `npm run tokens`, minutes on one core, always the same.
import { FAMILIES, trainingChunks } from './corpus.ts'
import { descend, normalOf } from './normal.ts'
import { roundOff, thetaOf } from './prune.ts'
import { rowsOf } from './rows.ts'
import { between, large, pruneAlong, small, writeTable } from './tables.ts'

/** Times that every cell is improved. */
const SWEEPS = 30

const rows = rowsOf(trainingChunks())
console.log(`${rows.cells.length} cells, ${rows.columns.length} entries`)
const theta = new Float64Array(rows.cells.length * FAMILIES)
let normal = normalOf(rows)
descend(normal, theta, SWEEPS)
normal = normalOf(rows, theta)
descend(normal, theta, SWEEPS)
const numbers = roundOff(normal, theta)
writeTable(rows, normal, numbers, large)
pruneAlong(rows, normal, numbers, between)
// So few numbers leave other rows far off than all did, and more of them: none is to be given up.
normal = normalOf(rows, thetaOf(numbers))
pruneAlong(rows, normal, numbers, between.slice(-1))
normal = normalOf(rows, thetaOf(numbers), [0.12, 0.04])
writeTable(rows, normal, numbers, small)
