// @vitest-environment happy-dom
import { act, createElement, type FunctionComponent, memo, StrictMode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { useMessage, useSession, useStore } from '../../src/bindings/react.ts'
import type { MessageStore, SessionSnapshot } from '../../src/chat/types.ts'
import { type Cell, createCell } from '../../src/lib/cell.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'

const said = (id: string, text: string): Message => ({
  role: 'assistant',
  id,
  sessionId: 's',
  parentId: null,
  status: 'streaming',
  createdAt: 0,
  updatedAt: 0,
  v: 1,
  content: [{ type: 'text', text }],
})

/** A session of three messages, of which the last can be made to grow. */
function openSession() {
  const messages = ['a', 'b', 'c'].map((id) => said(id, id))
  const cells = new Map(messages.map((message) => [message.id, createCell<Message | undefined>(message)]))
  const missing = createCell<Message | undefined>(undefined)
  const snapshot: Cell<SessionSnapshot> = createCell<SessionSnapshot>({
    id: 's',
    session: undefined,
    messages,
    waiting: [],
    status: 'running',
    connection: 'online',
    hasOlder: false,
    tidemark: 'b',
  })
  return {
    ...snapshot,
    message: (id: string): MessageStore => ({ ...(cells.get(id) ?? missing), onAppend: () => () => {} }),
    grow(text: string) {
      const grown = said('c', text)
      cells.get('c')?.set(grown)
      snapshot.set({ ...snapshot.get(), messages: [...messages.slice(0, 2), grown] })
    },
  }
}

type Open = ReturnType<typeof openSession>

const rendered: string[] = []

const Row: FunctionComponent<{ session: Open; id: string }> = memo(({ session, id }) => {
  rendered.push(id)
  const message = useMessage(session, id)
  return createElement('li', null, message ? textOf(message) : 'nothing')
})

const List: FunctionComponent<{ session: Open }> = ({ session }) => {
  const { messages } = useSession(session)
  return createElement(
    'ul',
    null,
    messages.map(({ id }) => createElement(Row, { key: id, session, id })),
  )
}

const Water: FunctionComponent<{ store: Cell<string> }> = ({ store }) =>
  createElement('p', null, useStore(store))

/** A store that knows how many watch it. */
function watched(value: string) {
  const cell = createCell(value)
  let watchers = 0
  const subscribe = (listener: () => void) => {
    watchers += 1
    const end = cell.subscribe(listener)
    return () => {
      watchers -= 1
      end()
    }
  }
  return { store: { ...cell, subscribe }, watchers: () => watchers }
}

let root: Root
let container: HTMLElement

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  rendered.length = 0
  container = document.createElement('div')
  root = createRoot(container)
})

afterEach(() => {
  act(() => root.unmount())
  vi.unstubAllGlobals()
})

describe('the React binding', () => {
  test('renders one row per delta, and no other', () => {
    const session = openSession()
    act(() => root.render(createElement(List, { session })))
    expect(rendered).toEqual(['a', 'b', 'c'])
    for (const text of ['c, and', 'c, and more', 'c, and more still']) act(() => session.grow(text))
    expect(rendered).toEqual(['a', 'b', 'c', 'c', 'c', 'c'])
    expect(container.textContent).toBe('abc, and more still')
  })

  test('shows the same on the server, and hydrates without a difference', async () => {
    const session = openSession()
    const list = createElement(List, { session })
    const page = document.createElement('div')
    page.innerHTML = renderToString(list)
    expect(page.textContent).toBe('abc')
    const differences: unknown[] = []
    const hydrated = await act(async () =>
      hydrateRoot(page, list, { onRecoverableError: (error) => differences.push(error) }),
    )
    act(() => session.grow('c grew'))
    expect(page.textContent).toBe('abc grew')
    expect(differences).toEqual([])
    act(() => hydrated.unmount())
  })

  test('a message that is not there is undefined', () => {
    act(() => root.render(createElement(Row, { session: openSession(), id: 'x' })))
    expect(container.textContent).toBe('nothing')
  })

  test('follows any store, and lets go of it', () => {
    const { store, watchers } = watched('low')
    act(() => root.render(createElement(StrictMode, null, createElement(Water, { store }))))
    expect(watchers()).toBe(1)
    act(() => store.set('high'))
    expect(container.textContent).toBe('high')
    act(() => root.render(null))
    expect(watchers()).toBe(0)
  })

  test('looks at another store when it is given one, and at the first no more', () => {
    const here = watched('here')
    act(() => root.render(createElement(Water, { store: here.store })))
    act(() => root.render(createElement(Water, { store: createCell('there') })))
    expect(container.textContent).toBe('there')
    expect(here.watchers()).toBe(0)
  })
})
