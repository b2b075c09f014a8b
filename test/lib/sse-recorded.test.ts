import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createSseParser, type SseFrame } from '../../src/lib/sse.ts'
import { readSlowly } from './sse-reference.ts'

const folder = new URL('../../../shared/fixtures/providers/streams/', import.meta.url)

/** Real answers, short ones, of as many kinds as there are: CRLF, comments, names, long lines, several bytes a character. */
const RECORDED = [
  'anthropic/anthropicsdk-refusal_response.sse',
  'azure/rubyllm-chat_function_calling_azure_grok-4-1-fast-non-reasoning_can_use_tools_without_parameters_i.2.sse',
  'cloudflare/chatlas-provider_cloudflare-cloudflare_simple_request.0.sse',
  'google-vertex/firebase-vertexai-streaming-success-utf8.sse',
  'openrouter/chatlas-provider_openrouter-openrouter_tool_variations.0.sse',
  'perplexity/rubyllm-chat_streaming_responses_perplexity_sonar_supports_streaming_responses.0.sse',
] as const
/** Longer ones are cut at every byte of their beginning. */
const LONGEST = 6_000

function readRecorded(file: string): Uint8Array {
  const path = fileURLToPath(new URL(file, folder))
  if (!existsSync(path))
    throw new Error(
      'the provider fixtures are missing: expected them in ../shared/fixtures/providers beside the project',
    )
  return readFileSync(path)
}

function framesOf(...pieces: Uint8Array[]): SseFrame[] {
  const frames: SseFrame[] = []
  const parser = createSseParser({ onFrame: (frame) => frames.push(frame) })
  for (const piece of pieces) parser.feed(piece)
  return frames
}

describe.each(RECORDED)('%s', (file) => {
  test('is read as the specification says', () => {
    const bytes = readRecorded(file)
    const { frames } = readSlowly(bytes)
    expect(frames.length).toBeGreaterThan(0)
    expect(framesOf(bytes)).toEqual(frames)
  })

  test('gives the same frames cut at every byte', () => {
    const bytes = readRecorded(file).subarray(0, LONGEST)
    const whole = JSON.stringify(framesOf(bytes))
    for (let at = 1; at < bytes.length; at++) {
      const cut = JSON.stringify(framesOf(bytes.subarray(0, at), bytes.subarray(at)))
      if (cut !== whole) expect({ at, frames: cut }).toEqual({ at, frames: whole })
    }
  })

  test('gives the same frames in pieces of every small size', () => {
    const bytes = readRecorded(file)
    const whole = framesOf(bytes)
    for (const size of [1, 2, 3, 5, 7, 16, 61, 1_400]) {
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      expect(framesOf(...pieces)).toEqual(whole)
    }
  })
})
