/** The address a text stands for, where it is one of the web. */
export function webAddress(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
