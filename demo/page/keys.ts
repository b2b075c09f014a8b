import type { KeyboardEvent } from 'react'

/** Enter that means "done": not with Shift, and not the Enter that ends the writing of a CJK word. */
export const isEnter = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing
