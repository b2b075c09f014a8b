/** The one question of every comparison, and its answer in the pieces that a model would give. */
export const QUESTION = 'What is a tidemark?'

export const PIECES: readonly string[] = [
  'The tide',
  'mark is',
  ' the newest',
  ' message up',
  ' to which',
  ' every',
  'thing is',
  ' settled',
  ', so only',
  ' what lies',
  ' above it',
  ' is fetched.',
]

export const ANSWER = PIECES.join('')

/** What a client shows at a moment. */
export interface View {
  questions: number
  answers: number
  /** The newest answer as far as it is shown; '' where there is none. */
  text: string
  /** `done`: shown as a finished answer; `failed`: shown as broken off; `busy`: still waiting or writing. */
  state: 'busy' | 'done' | 'failed'
}

/** A client in a page, as its user meets it. */
export interface Client {
  send(text: string): void
  view(): View
  /** What the library offers to a user whose question failed. */
  retry(): void
}

export type Open = (options: { url: string; chatId: string }) => Promise<Client>

export const isWhole = ({ questions, answers, text, state }: View): boolean =>
  state === 'done' && questions === 1 && answers === 1 && text === ANSWER
