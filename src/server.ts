/**
 * The server's side: web-standard functions from request to response that mount anywhere.
 * @module tidemark/server
 */
export { createChatHandler } from './server/chat/handler.ts'
export type { ChatHandler, ChatHandlerOptions, ChatLimits, FetchContext } from './server/chat/options.ts'
export type { CorsOptions } from './server/http/cors.ts'
export type { Rate } from './server/http/limits.ts'
export type {
  Change,
  Decision,
  EventLog,
  EventRow,
  HistoryStore,
  KeyRow,
  LogPage,
  MessageRow,
  Needs,
  Page,
  PageQuery,
  Place,
  RunRow,
  RunState,
  Scope,
  SessionRow,
  TransactOptions,
  View,
} from './server/ports.ts'
export { createProxyHandler } from './server/proxy/handler.ts'
export type { ProxyHandler, ProxyHandlerOptions, ProxyLimits, Upstream } from './server/proxy/options.ts'
