import type { Change, StoredMessage } from '../chat/ports.ts'
import type { StorageCase } from './storage-case.ts'
import { sampleAnswer, samplePiece, sampleUser, seeded } from './storage-samples.ts'

const message = (row: StoredMessage): Change => ({ type: 'message', row })
const piece = (messageId: string, offset: number, text: string): Change => ({
  type: 'journal',
  entry: samplePiece(messageId, 's1', offset, text),
})
const text = (value: string) => [{ type: 'text' as const, text: value }]

export const journalCases: readonly StorageCase[] = [
  {
    name: 'pieces of a streaming answer are read as part of it, by window and by id',
    async run({ storage }, expect) {
      await storage.commit([
        message(sampleUser('q', 's1', 1)),
        message(sampleAnswer('a', 's1', 2)),
        piece('a', 0, 'Ti'),
      ])
      await storage.commit([piece('a', 4, 's'), piece('a', 1, 'ide')])
      const whole = sampleAnswer('a', 's1', 2, { content: text('Tides') })
      expect((await storage.window('s1', { limit: 1 })).rows).toEqual([whole])
      expect(await storage.messages(['a'])).toEqual([whole])
    },
  },
  {
    name: 'a message put whole drops its journal, in a small batch and in a large one',
    async run({ storage }, expect) {
      for (const others of [0, 20]) {
        const crowd = Array.from({ length: others }, (_, i) => message(sampleUser(`c${i}`, 's1', 10 + i)))
        await storage.commit([message(sampleAnswer('a', 's1', 2)), piece('a', 0, 'Old')])
        const early = `early${others}`
        const renewed = [piece(early, 0, 'Early'), message(sampleAnswer(early, 's1', 4))]
        await storage.commit([...crowd, piece('a', 3, 'er'), message(sampleAnswer('a', 's1', 2)), ...renewed])
        expect(await storage.messages(['a', early])).toEqual([
          sampleAnswer('a', 's1', 2),
          sampleAnswer(early, 's1', 4),
        ])
        await storage.commit([piece('a', 0, 'New')])
        await storage.commit([{ type: 'deleteMessage', id: 'a' }])
        await storage.commit([message(sampleAnswer('b', 's1', 3)), ...crowd, piece('b', 0, 'Kept')])
        expect(await storage.messages(['a', 'b'])).toEqual([
          sampleAnswer('b', 's1', 3, { content: text('Kept') }),
        ])
      }
    },
  },
  {
    name: 'a piece put at the same place twice stands as it was put last',
    async run({ storage }, expect) {
      await storage.commit([message(sampleAnswer('a', 's1', 1)), piece('a', 0, 'T'), piece('a', 0, 'Tide')])
      expect(await storage.messages(['a'])).toEqual([sampleAnswer('a', 's1', 1, { content: text('Tide') })])
    },
  },
  {
    name: 'pieces that straggle in behind a settled message do not touch it',
    async run({ storage }, expect) {
      const settled = sampleAnswer('a', 's1', 1, { status: 'completed', content: text('Done') })
      await storage.commit([message(settled)])
      await storage.commit([piece('a', 4, ' and more')])
      expect(await storage.messages(['a'])).toEqual([settled])
      expect((await storage.window('s1', { limit: 1 })).rows).toEqual([settled])
    },
  },
  {
    name: 'an answer written in random pieces is read as the whole at every moment',
    async run({ storage }, expect) {
      const random = seeded(7)
      await storage.commit([message(sampleAnswer('a', 's1', 1))])
      let written = ''
      for (let i = 0; i < 40; i++) {
        const overlap = Math.min(written.length, Math.floor(random() * 4))
        const added = `${i}é\u0000\ud83c\udf0a`.slice(0, 1 + Math.floor(random() * 6))
        await storage.commit([
          piece('a', written.length - overlap, written.slice(written.length - overlap) + added),
        ])
        written += added
        if (i % 10 === 9) expect((await storage.messages(['a']))[0]?.message.content).toEqual(text(written))
      }
    },
  },
]
