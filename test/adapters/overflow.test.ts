import { describe, expect, test } from 'vitest'
import { failureOf } from '../../src/adapters/failure.ts'

const failed = (error: object, status: number) => failureOf(JSON.stringify({ error }), status)

describe('a failure', () => {
  test.each([
    "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens",
    'prompt too long; exceeded max context length by 1119046 tokens',
    "This endpoint's maximum context length is 200000 tokens.",
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 210000 tokens > 200000 maximum',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
    'the request exceeds the available context size. try increasing the context size',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Input is too long for requested model.',
    'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'Please reduce the length of the messages or completion.',
    'Range of input length should be [1, 30720]',
    'Invalid request: Your request exceeded model token limit: 8192',
    'Context size has been exceeded.',
    'Prompt exceeds max length',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    'AiError: The estimated number of input and maximum output tokens (16001) exceeded this model context window limit (8000).',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
    'Input validation error: `inputs` must have less than 1024 tokens. Given: 5000',
    'invalid params, context window exceeds limit (2013)',
    'Unable to submit request because the input token count is 1194206 but model only supports up to 1048576.',
    'Request body too large for gpt-4o model. Max size: 8000 tokens.',
  ])('a full window is known by its words: %s', (words) => {
    expect(failed({ message: words, code: 'invalid_request_error' }, 400).code).toBe('context-overflow')
  })

  test.each([
    'Rate limit reached for requests',
    'Too many tokens, please wait before trying again.',
    'Request too large for gpt-4o on tokens per min (TPM): Limit 1, Requested 30.',
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
    'The tool name exceeds max length 64',
  ])('other words about tokens are not: %s', (words) => {
    expect(failed({ message: words }, 429).code).toBe('rate-limit')
  })
})

test.each([
  [
    'maximum context length is 8192 tokens. However, you requested 10396 tokens (9372 in the messages)',
    10_396,
    8_192,
  ],
  ['prompt is too long: 210000 tokens > 200000 maximum', 210_000, 200_000],
  [
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    1_250_074,
    1_048_576,
  ],
  ['input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000', 209_573, 200_000],
  ['Input validation error: `inputs` must have less than 1024 tokens. Given: 5000', 5_000, 1_024],
])('a full window tells its numbers: %s', (message, needed, available) => {
  expect(failed({ message }, 400).tokens).toEqual({ needed, available })
})

test.each([
  "This endpoint's maximum context length is 200000 tokens.",
  'Request body too large for gpt-4o-2024-08-06 model. Max size: 8000 tokens.',
  'Prompt exceeds max length (request 20251130-1234)',
])('a full window that tells one number, or none, tells of no room: %s', (message) => {
  expect(failed({ message }, 400)).not.toHaveProperty('tokens')
})
