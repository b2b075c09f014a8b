import DOMPurify from 'dompurify'
import { Marked, type Token } from 'marked'
import { webAddress } from '../web-address.ts'

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

const marked = new Marked({
  gfm: true,
  renderer: {
    // Loading a picture tells its server that, when and from where it was looked at: a link leaves that to the reader.
    image({ href, text }) {
      return `<a href="${escapeHtml(href)}">${escapeHtml(`Image: ${text || 'no description'} (${webAddress(href)?.host ?? 'no address'})`)}</a>`
    },
    // A box that cannot be ticked is a sign, not a control.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

const TAGS =
  'a b blockquote br code dd del details dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre s strong sub ' +
  'summary sup table tbody td th thead tr u ul'

const ALLOWED = {
  ALLOWED_TAGS: TAGS.split(' '),
  ALLOWED_ATTR: ['align', 'colspan', 'href', 'rel', 'rowspan', 'start', 'target', 'title'],
  // Everything that is allowed but no address: else each value would have to look like one.
  ADD_URI_SAFE_ATTR: ['align', 'colspan', 'rel', 'rowspan', 'start', 'target', 'title'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
}

/** What may come of a model's Markdown: text and its structure. No scripts, styles, forms, frames, pictures, ids or classes. */
function createSanitiser(): (html: string) => DocumentFragment {
  const purify = DOMPurify(window)
  purify.addHook('afterSanitizeAttributes', (node) => {
    if (node.tagName !== 'A' || !node.hasAttribute('href')) return
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer nofollow')
  })
  return (html) => purify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true })
}

const sanitise = createSanitiser()

/** A block of Markdown as nodes that are safe to show, whatever a model wrote. */
export const safeNodes = (token: Token): DocumentFragment => sanitise(marked.parser([token]))
