import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Chat } from 'tidemark'
import { useStore } from 'tidemark/react'
import { Announcer } from './announcer.tsx'
import { AttemptArea } from './attempt.tsx'
import type { PageConfig } from './config.ts'
import { FocusArea, useFocusOn } from './focus.tsx'
import type { Router, RuntimeName } from './route.ts'
import { SessionView } from './session-view.tsx'
import { Sidebar } from './sidebar.tsx'

interface Props {
  config: PageConfig
  router: Router
  chatFor: (runtime: RuntimeName) => Chat
}

const NARROW = '(max-width: 760px)'

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const look = () => setMatches(media.matches)
    look()
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [query])
  return matches
}

/** The focus goes into the drawer when it opens, and back to its button when it shuts; what is shut is inert. */
function useDrawerFocus(open: boolean, sidebar: RefObject<HTMLElement | null>): void {
  const was = useRef(open)
  useEffect(() => {
    if (was.current === open) return
    was.current = open
    const target = open
      ? sidebar.current?.querySelector<HTMLElement>('[data-focus="new"]')
      : document.querySelector<HTMLElement>('[data-focus="drawer"]')
    target?.focus()
  }, [open, sidebar])
}

function Page({ config, router, chatFor }: Props) {
  const route = useStore(router)
  const chat = chatFor(route.runtime)
  const session = useMemo(() => chat.session(route.sessionId), [chat, route.sessionId])
  const narrow = useMedia(NARROW)
  const [open, setOpen] = useState(false)
  const sidebar = useRef<HTMLElement>(null)
  const focusOn = useFocusOn()
  const close = useCallback(() => setOpen(false), [])
  const startNew = () => {
    close()
    const { id } = chat.session()
    router.go({ runtime: route.runtime, sessionId: id })
    focusOn(`composer:${id}`)
  }
  useDrawerFocus(open, sidebar)
  return (
    <div className="page">
      <button type="button" className="skip" onClick={() => focusOn(`composer:${session.id}`)}>
        Skip to writing
      </button>
      <Sidebar
        chat={chat}
        config={config}
        route={route}
        router={router}
        startNew={startNew}
        drawer={narrow ? { open, close } : undefined}
        element={sidebar}
      />
      {narrow && open ? <div className="scrim" onClick={close} aria-hidden="true" /> : null}
      <main inert={narrow && open}>
        <SessionView
          chat={chat}
          session={session}
          standIn={config.standIn}
          openDrawer={narrow ? () => setOpen(true) : undefined}
        />
      </main>
    </div>
  )
}

export function App(props: Props) {
  return (
    <FocusArea>
      <Announcer>
        <AttemptArea>
          <Page {...props} />
        </AttemptArea>
      </Announcer>
    </FocusArea>
  )
}
