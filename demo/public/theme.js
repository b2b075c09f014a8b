// Runs before the first paint, so that a chosen theme does not flash the other one. page/theme.ts takes over later.
;(() => {
  let choice = null
  try {
    choice = localStorage.getItem('tidemark.theme')
  } catch {
    // Storage is refused in some private modes; the system's theme it is.
  }
  const dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
