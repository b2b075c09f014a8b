import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'

/** What the page may do: run its own scripts, talk to its own server, and nothing else. */
export const pageHeaders = (): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      // `data:` for pictures that a model sent as bytes. Those of other servers are never loaded.
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ['dompurify'],
    },
    // Plain HTTP on the machine itself; a promise of HTTPS would bind other servers on it, too.
    strictTransportSecurity: false,
    referrerPolicy: 'no-referrer',
    xFrameOptions: 'DENY',
  })

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Refuses what another site's page sends here through the user's browser: it could spend the key and read the history.
 * @param local the server listens on the machine itself only, so that no other name can be meant (DNS rebinding)
 */
export function sameSite(local: boolean): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host') ?? ''
    const origin = context.req.header('origin')
    const site = context.req.header('sec-fetch-site')
    const foreign =
      (local && !LOOPBACK.test(host)) ||
      (origin !== undefined && origin.replace(/^https?:\/\//, '') !== host) ||
      site === 'cross-site'
    return foreign ? context.text('This server answers its own page only.', 403) : next()
  }
}
