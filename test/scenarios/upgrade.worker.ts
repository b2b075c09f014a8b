import { storageOver } from '../../src/storage/dexie.ts'
import { VERSIONS } from '../../src/storage/schema.ts'

// Upgrades a database, and never comes to the end of it: to be killed half-way.
addEventListener('message', async ({ data: name }: MessageEvent<string>) => {
  const storage = storageOver(name, [
    ...VERSIONS,
    {
      version: VERSIONS.length + 1,
      tables: { notes: 'id' },
      upgrade: async (transaction) => {
        await transaction.table('messages').clear()
        postMessage('cleared')
        for (;;) await transaction.table('sessions').count()
      },
    },
  ])
  await storage.start({ sessions: 1 })
})
