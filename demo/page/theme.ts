import { useEffect } from 'react'
import { useKept } from './kept.ts'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const asTheme = (text: string): Theme => THEMES.find((theme) => theme === text) ?? 'auto'

/** The chosen theme; `auto` follows the system. public/theme.js does the same before the first paint. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [kept, keep] = useKept('theme')
  const theme = asTheme(kept)
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    const apply = () => {
      const dark = theme === 'dark' || (theme === 'auto' && system.matches)
      document.documentElement.dataset.theme = dark ? 'dark' : 'light'
    }
    apply()
    system.addEventListener('change', apply)
    return () => system.removeEventListener('change', apply)
  }, [theme])
  return [theme, (next) => keep(next === 'auto' ? '' : next)]
}
