import { useCallback, useState } from 'react'

/** Small preferences of this browser, under one prefix. A browser that refuses storage just forgets them. */
const PREFIX = 'tidemark.'

export function readKept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

/** `null` and the empty text forget it. */
export function writeKept(name: string, value: string | null): void {
  try {
    if (value) localStorage.setItem(PREFIX + name, value)
    else localStorage.removeItem(PREFIX + name)
  } catch {
    // Refused or full: a preference is not worth a message.
  }
}

/**
 * State that survives a reload, and two ways to change it: for good, and for the eye alone. Give the component a `key` where
 * `name` changes.
 */
export function useKept(
  name: string,
  initial = '',
): [string, (value: string) => void, (value: string) => void] {
  const [value, setValue] = useState(() => readKept(name) ?? initial)
  const keep = useCallback(
    (next: string) => {
      setValue(next)
      writeKept(name, next)
    },
    [name],
  )
  return [value, keep, setValue]
}
