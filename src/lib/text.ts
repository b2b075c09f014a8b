/** Whether a text ends in the first half of a surrogate pair, which must wait for its second half. */
export function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}
