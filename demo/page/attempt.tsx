import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Icon } from './icon.tsx'

/** Runs an action; where it fails, the page says why and the answer is false. */
type Attempt = (action: () => Promise<unknown>) => Promise<boolean>

const AttemptContext = createContext<Attempt>(async (action) => {
  await action()
  return true
})

export const useAttempt = (): Attempt => useContext(AttemptContext)

export function AttemptArea({ children }: { children: ReactNode }) {
  const [failure, setFailure] = useState<string>()
  const attempt = useCallback<Attempt>(async (action) => {
    try {
      await action()
      setFailure(undefined)
      return true
    } catch (thrown) {
      setFailure(thrown instanceof Error ? thrown.message : String(thrown))
      return false
    }
  }, [])
  return (
    <AttemptContext value={attempt}>
      {children}
      {failure === undefined ? null : (
        <div className="toast" role="alert">
          <p>That did not work: {failure}</p>
          <button type="button" className="quiet" aria-label="Dismiss" onClick={() => setFailure(undefined)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </AttemptContext>
  )
}
