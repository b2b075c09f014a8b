import type { FileBlock, ImageBlock } from '../message/schema.ts'
import type { Family } from './families.ts'
import { type ImageSize, imageSizeOf } from './image-size.ts'

/** A picture whose size nobody can tell from here. */
const USUAL: ImageSize = { width: 1_024, height: 1_024 }
/** Bytes of a page of a PDF, where its pages cannot be counted. An assumption. */
const PAGE = 50_000

const shrink = ({ width, height }: ImageSize, by: number): ImageSize =>
  by < 1 ? { width: width * by, height: height * by } : { width, height }

const squares = ({ width, height }: ImageSize, side: number): number =>
  Math.ceil(width / side) * Math.ceil(height / side)

/**
 * Shrunk into 2,048 × 2,048, then to 768 on the short side: 85 tokens and 170 for each tile of 512 (OpenAI's guide "Images and
 * vision", for GPT-4o at high detail). Its small models count patches of 32 pixels times a factor of the model's: a family does
 * not tell which.
 */
function tiles(size: ImageSize): number {
  const fit = shrink(size, 2_048 / Math.max(size.width, size.height))
  return 85 + 170 * squares(shrink(fit, 768 / Math.min(fit.width, fit.height)), 512)
}

/**
 * Shrunk to 1,568 on the long side and 1,600 tokens: a token for 750 pixels (Anthropic's guide "Vision", as it stood up to Claude
 * 4.6; later models take up to 2,576 pixels and three times as many tokens).
 */
function pixels(size: ImageSize): number {
  const { width, height } = shrink(size, 1_568 / Math.max(size.width, size.height))
  return Math.min(1_600, Math.ceil((width * height) / 750))
}

/**
 * 258 tokens for a picture of up to 384 × 384, else for each tile of 768 × 768 that it is scaled and cut into (Google's guide
 * "Understand and count tokens", for Gemini 2.0). That a tile is two thirds of the short side, 256 to 768, is an assumption.
 */
function crops(size: ImageSize): number {
  if (size.width <= 384 && size.height <= 384) return 258
  const side = Math.max(256, Math.min(768, Math.floor(Math.min(size.width, size.height) / 1.5)))
  return 258 * squares(size, side)
}

/** A token for each square of 28 pixels, at most 16,384 (Qwen2-VL's model card), and its begin and end. */
const patches = (size: ImageSize): number => Math.min(16_384, squares(size, 28)) + 2

/** Shrunk to 1,024 on the long side; a token for each square of 16 pixels, and one to end each row: Pixtral 12B's. */
function rows(size: ImageSize): number {
  const fit = shrink(size, 1_024 / Math.max(size.width, size.height))
  return squares(fit, 16) + Math.ceil(fit.height / 16)
}

/** Of models of Meta and DeepSeek nothing is known here: they are taken to count as OpenAI's. */
const PICTURES: Readonly<Record<Family, (size: ImageSize) => number>> = {
  o200k: tiles,
  cl100k: tiles,
  claude: pixels,
  gemini: crops,
  qwen3: patches,
  mistral: rows,
  llama3: tiles,
  deepseek: tiles,
}

/**
 * Tokens of a page of a PDF: its text and its picture (Anthropic's guide "PDF support", OpenAI's "PDF files"). How much of them is on
 * a page is an assumption. Gemini's 258 are for its picture alone.
 */
const PAGES: Partial<Record<Family, number>> = { claude: 2_500, gemini: 258 }
const PAGE_TOKENS = 1_300

/** Pages of a PDF, as far as they can be told without unpacking it; a guess by its length otherwise. */
function pagesOf(data: string): number {
  let text = ''
  try {
    text = atob(data)
  } catch {
    // Not base64: as long as it is, it says nothing.
  }
  return text.match(/\/Type\s*\/Page\b/g)?.length ?? Math.round((data.length * 0.75) / PAGE)
}

/**
 * Tokens of a picture or a document by the formula that its provider publishes, for `createEstimator({ media: mediaTokens })`. A
 * picture's size is read from the header of its data; one that is only linked is taken for 1,024 × 1,024, a linked document for
 * one page.
 */
export function mediaTokens(block: ImageBlock | FileBlock, family: Family): number {
  const { mimeType, data } = block
  if (block.type === 'image' || mimeType.startsWith('image/'))
    return Math.ceil(PICTURES[family]((data !== undefined && imageSizeOf(data)) || USUAL))
  const page = PAGES[family] ?? PAGE_TOKENS
  return page * (data === undefined ? 1 : Math.max(1, pagesOf(data)))
}
