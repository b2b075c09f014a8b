/** The database of the first version, as any release has to find it: written by hand, with nothing of the library. */
export async function writeFirstRelease(name: string): Promise<void> {
  const request = indexedDB.open(name, 10)
  request.onupgradeneeded = () => {
    const db = request.result
    const sessions = db.createObjectStore('sessions', { keyPath: 'session.id' })
    sessions.createIndex('[session.updatedAt+session.id]', ['session.updatedAt', 'session.id'])
    const messages = db.createObjectStore('messages', { keyPath: 'message.id' })
    messages.createIndex('[message.sessionId+position]', ['message.sessionId', 'position'])
    messages.createIndex('[message.sessionId+message.rev]', ['message.sessionId', 'message.rev'])
    db.createObjectStore('journal', { keyPath: ['messageId', 'index', 'offset'] })
    const outbox = db.createObjectStore('outbox', { keyPath: 'id' })
    outbox.createIndex('[sessionId+position]', ['sessionId', 'position'])
    outbox.createIndex('nextAttemptAt', 'nextAttemptAt')
    const records = db.createObjectStore('records', { keyPath: ['kind', 'key'] })
    records.createIndex('[sessionId+kind]', ['sessionId', 'kind'])
  }
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const tables = Object.keys(ROWS)
  const tx = db.transaction(tables, 'readwrite')
  for (const [table, rows] of Object.entries(ROWS)) for (const row of rows) tx.objectStore(table).put(row)
  await new Promise<void>((resolve, reject) => {
    tx.oncomplete = () => resolve()
    tx.onabort = () => reject(tx.error)
  })
  db.close()
}

const at = { sessionId: 's', createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_000, v: 1 }

/** A session with a question, an answer that was streaming, and a question that waits to be sent. */
const ROWS: Readonly<Record<string, readonly object[]>> = {
  sessions: [
    {
      session: {
        id: 's',
        createdAt: at.createdAt,
        updatedAt: at.updatedAt,
        title: 'Tides',
        metadata: {},
        headId: 'u2',
        v: 1,
      },
      eventId: '4.d',
      rev: 3,
      tidemark: 'u1',
      nextLocal: 2,
      complete: true,
      epoch: 0,
    },
  ],
  messages: [
    {
      message: {
        ...at,
        id: 'u1',
        role: 'user',
        parentId: null,
        status: 'completed',
        seq: 1,
        rev: 1,
        content: [{ type: 'text', text: 'one' }],
      },
      position: 1,
    },
    {
      message: {
        ...at,
        id: 'a1',
        role: 'assistant',
        parentId: 'u1',
        status: 'streaming',
        seq: 2,
        rev: 3,
        runId: 'r1',
        content: [{ type: 'text', text: 'High ' }],
      },
      position: 2,
    },
    {
      message: {
        ...at,
        id: 'u2',
        role: 'user',
        parentId: 'a1',
        status: 'pending',
        content: [{ type: 'text', text: 'two' }],
      },
      position: 2 ** 52,
    },
  ],
  journal: [{ sessionId: 's', messageId: 'a1', index: 0, offset: 5, text: 'water' }],
  outbox: [
    {
      id: 'u2',
      sessionId: 's',
      account: 'default',
      position: 2 ** 52 + 1,
      request: {
        type: 'send',
        body: { id: 'u2', runId: 'r2', parentId: 'a1', content: [{ type: 'text', text: 'two' }] },
      },
      state: 'waiting',
      attempts: 0,
      nextAttemptAt: 0,
      claim: null,
    },
  ],
  records: [{ kind: 'note', key: 'n', sessionId: 's', value: { kept: true } }],
}
