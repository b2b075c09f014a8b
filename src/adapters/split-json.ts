/**
 * Finds the JSON objects in a text that comes in pieces, whether they stand alone, one after the other, or in one list.
 * What stands between them is passed over. Returns the function that takes the pieces.
 */
export function splitJson(onObject: (text: string) => void): (piece: string) => void {
  /** The object that has begun, as far as it came. */
  let begun = ''
  let depth = 0
  let inString = false
  let escaped = false
  return (piece) => {
    let start = 0
    for (let i = 0; i < piece.length; i++) {
      const character = piece[i]
      if (escaped) escaped = false
      else if (inString) {
        escaped = character === '\\'
        inString = character !== '"'
      } else if (character === '"') inString = depth > 0
      else if (character === '{') {
        if (depth === 0) start = i
        depth++
      } else if (character === '}' && depth > 0) {
        depth--
        if (depth > 0) continue
        onObject(begun + piece.slice(start, i + 1))
        begun = ''
      }
    }
    if (depth > 0) begun += piece.slice(start)
  }
}
