/**
 * Milliseconds to wait before trying again, as an answer's headers ask: `retry-after-ms`, or `retry-after` in seconds or
 * as a date; undefined where they do not.
 * @param now milliseconds since the epoch, for dates; not a number where nobody knows, then a date says nothing
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (milliseconds >= 0) return Math.ceil(milliseconds)
  const asked = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(asked)) return Math.ceil(Number(asked) * 1000)
  const wait = Date.parse(asked) - now
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
