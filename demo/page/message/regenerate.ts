import { useAttempt } from '../attempt.tsx'
import { useFocusOn } from '../focus.tsx'
import { useConversation } from './conversation.ts'

/** Asks for another answer instead of a message; the focus goes to where one writes. */
export function useRegenerate(id: string): () => Promise<void> {
  const { session } = useConversation()
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  return async () => {
    if (await attempt(() => session.regenerate(id))) focusOn(`composer:${session.id}`)
  }
}
