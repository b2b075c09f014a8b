import type { Page } from 'playwright-core'

/** A person with a keyboard and nothing else. */
export interface Keyboard {
  /** Presses Tab until the focus is on the control of this name; throws where it never comes there. */
  to(name: string | RegExp, direction?: 'on' | 'back'): Promise<void>
  press(...keys: string[]): Promise<void>
  type(text: string): Promise<void>
  /** The name of what has the focus. */
  at(): Promise<string>
}

/** More stops than the page has: who has not arrived by then goes round in circles. */
const STOPS = 80

/** The name that a screen reader would say; enough of the rules for this page. */
function focusedName(): string {
  const element = document.activeElement
  if (!(element instanceof HTMLElement) || element === document.body) return ''
  const label = element.getAttribute('aria-label')
  if (label) return label
  const labels = 'labels' in element && element.labels instanceof NodeList ? [...element.labels] : []
  const [named] = labels
  return (named?.textContent ?? element.textContent ?? '').trim()
}

export function keyboardOf(page: Page): Keyboard {
  const at = () => page.evaluate(focusedName)
  const matches = (name: string | RegExp, found: string) =>
    typeof name === 'string' ? name === found : name.test(found)
  return {
    at,
    async to(name, direction = 'on') {
      const seen: string[] = []
      for (let stop = 0; stop < STOPS; stop += 1) {
        const found = await at()
        if (matches(name, found)) return
        seen.push(found)
        await page.keyboard.press(direction === 'on' ? 'Tab' : 'Shift+Tab')
      }
      throw new Error(`Tab never came to ${String(name)}; it went over ${[...new Set(seen)].join(' | ')}`)
    },
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key)
    },
    type: (text) => page.keyboard.type(text),
  }
}
