import { dexieStorage } from '../../src/storage/dexie.ts'
import { sampleAnswer, samplePiece } from '../../src/testing/storage-samples.ts'

// Writes an answer piece by piece, for ever, and says after each commit how much is stored: to be killed in the middle.
addEventListener('message', async ({ data: name }: MessageEvent<string>) => {
  const storage = dexieStorage(name)
  await storage.commit([{ type: 'message', row: sampleAnswer('a', 's1', 1) }])
  for (let length = 0; ; ) {
    const text = `${length} `
    await storage.commit([{ type: 'journal', entry: samplePiece('a', 's1', length, text) }])
    length += text.length
    postMessage(length)
  }
})
