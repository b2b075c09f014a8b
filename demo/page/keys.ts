import type { KeyboardEvent as ReactKeyboardEvent } from 'react'

/** Enter that means "done": not with Shift, and not the Enter that ends the writing of a CJK word. */
export const isEnter = (event: ReactKeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing

/** Escape that nothing nearer has a use for: no dialog, and not the end of a CJK word. */
export const isFreeEscape = (event: KeyboardEvent): boolean =>
  event.key === 'Escape' && !event.isComposing && !document.querySelector('dialog[open]')
