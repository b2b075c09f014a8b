/** As much of the mock as is used, so that types can be checked where it is not installed. */
declare module '@copilotkit/aimock' {
  interface Match {
    userMessage: string
    model?: RegExp
    hasToolResult?: boolean
  }
  interface Answer {
    content?: string
    toolCalls?: { name: string; arguments: string }[]
    finishReason?: string
    error?: { message: string; type: string }
    status?: number
    /** Seconds. */
    retryAfter?: number
  }
  interface Delivery {
    /** Characters. */
    chunkSize?: number
    /** Milliseconds before each chunk. */
    latency?: number
    truncateAfterChunks?: number
    chaos?: Record<string, number>
  }
  export class LLMock {
    constructor(options: { port: number; logLevel: 'silent' })
    readonly url: string
    start(): Promise<string>
    stop(): Promise<void>
    on(match: Match, answer: Answer, delivery?: Delivery): this
    onMessage(message: string, answer: Answer, delivery?: Delivery): this
  }
}
