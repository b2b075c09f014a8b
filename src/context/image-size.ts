/** Pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** So much of a JPEG is searched for its size: what stands before it are thumbnails and colour profiles. */
const SEARCHED = 256 * 1024

/** The first bytes of base64, or all of it; none where it is not base64. */
function bytesOf(data: string, most: number): Uint8Array {
  const whole = data.slice(0, Math.ceil(most / 3) * 4)
  try {
    return Uint8Array.from(atob(whole.slice(0, whole.length - (whole.length % 4) || undefined)), (unit) =>
      unit.charCodeAt(0),
    )
  } catch {
    return new Uint8Array()
  }
}

const sized = (width: number, height: number): ImageSize | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined

/** A frame header, of any kind of compression, has the size. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; at + 9 < view.byteLength && view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return sized(view.getUint16(at + 7), view.getUint16(at + 5))
  }
  return undefined
}

/** Three kinds of chunk, each with the size in its own way. */
function webpSize(view: DataView): ImageSize | undefined {
  const little = (at: number): number => view.getUint16(at, true)
  const kind = view.getUint8(15)
  if (kind === 0x20) return sized(little(26) & 0x3fff, little(28) & 0x3fff)
  if (kind === 0x4c) {
    const bits = view.getUint32(21, true)
    return sized((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
  }
  return sized((view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1)
}

/** The size of a PNG, JPEG, GIF or WebP from its header, in base64; undefined for anything else, or where it is cut off. */
export function imageSizeOf(data: string): ImageSize | undefined {
  const bytes = bytesOf(data, SEARCHED)
  if (bytes.length < 30) return undefined
  const view = new DataView(bytes.buffer)
  switch (view.getUint32(0)) {
    case 0x89504e47:
      return sized(view.getUint32(16), view.getUint32(20))
    case 0x47494638:
      return sized(view.getUint16(6, true), view.getUint16(8, true))
    case 0x52494646:
      return webpSize(view)
  }
  return view.getUint16(0) === 0xffd8 ? jpegSize(view) : undefined
}
