import { type RefObject, useEffect } from 'react'
import type { Chat } from 'tidemark'
import type { PageConfig } from './config.ts'
import { useFocusTarget } from './focus.tsx'
import { Icon } from './icon.tsx'
import { isFreeEscape } from './keys.ts'
import type { Route, Router } from './route.ts'
import { SessionList } from './session-list.tsx'
import { Settings } from './settings.tsx'

interface Props {
  chat: Chat
  config: PageConfig
  route: Route
  router: Router
  startNew: () => void
  /** A drawer over the page, where the page is narrow. */
  drawer: { open: boolean; close: () => void } | undefined
  element: RefObject<HTMLElement | null>
}

function useEscape(active: boolean, close: () => void): void {
  useEffect(() => {
    if (!active) return
    const onKey = (event: KeyboardEvent) => {
      if (isFreeEscape(event)) close()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [active, close])
}

const nothing = () => {}

export function Sidebar({ chat, config, route, router, startNew, drawer, element }: Props) {
  const target = useFocusTarget<HTMLButtonElement>('new')
  const close = drawer?.close ?? nothing
  useEscape(drawer?.open ?? false, close)
  return (
    <nav
      className="sidebar"
      aria-label="Sessions"
      data-open={drawer?.open}
      inert={drawer ? !drawer.open : false}
      ref={element}
    >
      <div className="brand">
        <span className="wave" aria-hidden="true" />
        <strong>tidemark</strong>
        {drawer ? (
          <button type="button" className="quiet" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        ) : null}
      </div>
      <button type="button" className="new" onClick={startNew} {...target}>
        <Icon name="plus" /> New session
      </button>
      <SessionList
        chat={chat}
        runtime={route.runtime}
        currentId={route.sessionId}
        replace={(sessionId) => (sessionId ? router.go({ ...route, sessionId }) : startNew())}
        chosen={close}
      />
      <Settings runtime={route.runtime} goTo={router.goTo} />
      <p className="model">
        {config.standIn
          ? 'Answers come from a stand-in model on this machine.'
          : `Answers come from ${config.model}.`}
      </p>
    </nav>
  )
}
