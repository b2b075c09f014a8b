import { TidemarkError } from '../../lib/errors.ts'
import { SCHEMA_VERSION, type Session } from '../../message/schema.ts'
import type { CreateSession, PatchSession } from '../../protocol/commands.ts'
import type { Decision, Scope, View } from '../ports.ts'
import {
  changeSession,
  decided,
  emit,
  liveSession,
  nextRev,
  notInSession,
  openDraft,
  type Terms,
} from './draft.ts'
import type { Handover } from './runs.ts'

export interface Created {
  session: Session
  /** Whether it was made now. */
  fresh: boolean
}

/** Creates a session; one of the same account that is there already is answered as it is. */
export function createSession(
  view: View,
  scope: Scope,
  body: CreateSession,
  terms: Terms,
): Decision<Created> {
  if (view.foreign) {
    throw new TidemarkError('conflict', `id: ${scope.sessionId} is in use`, { status: 409 })
  }
  if (view.session) return { changes: [], answer: { session: liveSession(view).session, fresh: false } }
  const { now } = terms
  const draft = openDraft(view, terms, {
    account: scope.account,
    session: {
      id: scope.sessionId,
      ...(body.title !== undefined && { title: body.title }),
      createdAt: now,
      updatedAt: now,
      metadata: body.metadata ?? {},
      headId: null,
      v: SCHEMA_VERSION,
    },
    seq: 0,
    rev: 0,
    events: 0,
    tag: null,
    trimmed: 0,
    published: 0,
    epoch: 0,
    deleted: false,
  })
  changeSession(draft, {})
  return decided(draft, { session: draft.session.session, fresh: true })
}

/** Changes title, metadata (as a whole) and head. What is so already is no change. */
export function patchSession(view: View, body: PatchSession, terms: Terms): Decision<Session> {
  const { session } = liveSession(view)
  const { title, metadata, headId } = body
  if (headId !== undefined && headId !== null && !view.messages.has(headId)) {
    throw notInSession('headId', headId)
  }
  const fields = {
    ...(title !== undefined && title !== session.title && { title }),
    ...(metadata !== undefined && { metadata }),
    ...(headId !== undefined && headId !== session.headId && { headId }),
  }
  if (Object.keys(fields).length === 0) return { changes: [], answer: session }
  const draft = openDraft(view, terms)
  changeSession(draft, fields)
  return decided(draft, draft.session.session)
}

/** Forgets all of a session but its id; doing it again changes nothing. */
export function deleteSession(view: View, terms: Terms): Decision<Handover> {
  if (view.session?.deleted) return { changes: [], answer: { ended: [] } }
  const draft = openDraft(view, terms)
  const { id, createdAt, v } = draft.session.session
  const rev = nextRev(draft)
  const session: Session = { id, createdAt, updatedAt: terms.now, metadata: {}, headId: null, rev, v }
  const { n } = emit(draft, { type: 'session.deleted', id, rev })
  draft.session = { ...draft.session, session, deleted: true, trimmed: n - 1 }
  const { changes, answer } = decided(draft, { ended: view.active ? [view.active.id] : [] })
  return { changes: [{ type: 'empty' }, ...changes], answer }
}
