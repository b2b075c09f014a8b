import { useRef } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { useOverflow } from './overflow.ts'

/** Code with its language and a button that copies it. Text only, so that React appends to it while it grows. */
export function CodeBlock({ code, lang }: { code: string; lang: string }) {
  const ref = useRef<HTMLPreElement>(null)
  const scrolls = useOverflow(ref)
  const name = /^[\w+#.-]{1,24}/.exec(lang)?.[0] ?? 'text'
  const reachable = scrolls ? { role: 'region', 'aria-label': `Code, ${name}`, tabIndex: 0 } : {}
  return (
    <figure className="code">
      <figcaption>
        <span>{name}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      <pre ref={ref} {...reachable}>
        <code>{code}</code>
      </pre>
    </figure>
  )
}
