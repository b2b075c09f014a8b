import { act } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Markdown } from '../../demo/page/markdown/markdown.tsx'

let root: Root
let box: HTMLElement

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  box = document.createElement('div')
  document.body.append(box)
  root = createRoot(box)
})

afterEach(() => {
  act(() => root.unmount())
  box.remove()
  vi.unstubAllGlobals()
})

const show = (text: string, growing = false) =>
  act(() => root.render(<Markdown text={text} growing={growing} />))

/** Resolves after a picture failed to load: those that began before it have failed by then, too. */
const pictureFails = () =>
  new Promise<void>((resolve) => {
    const picture = new Image()
    picture.onerror = () => resolve()
    picture.src = `x?${Date.now()}`
  })

const HOSTILE = [
  '<script>window.hurt = 1</script>',
  '<img src=x onerror="window.hurt = 2">',
  '![a picture](https://example.invalid/pixel.png)',
  '<svg onload="window.hurt = 3"><style>*{display:none}</style></svg>',
  '<a href="javascript:window.hurt = 4">a</a> [b](javascript:window.hurt=5) [c](data:text/html,x) [d](//example.com)',
  '<iframe src="https://example.invalid"></iframe><form action="/x"><input name=y><button>z</button></form>',
  '<p id="app" class="toast" style="position:fixed" data-focus="new" aria-hidden="true">styled</p>',
  '<math><mtext><table><mglyph><style><img src=x onerror="window.hurt=6"></style></mglyph></table></mtext></math>',
  '<details open ontoggle="window.hurt = 7"><summary>s</summary>t</details>',
  '```html\n<script>window.hurt = 8</script>\n```',
  '| <img src=x onerror="window.hurt=9"> |\n| --- |\n| x |',
]

describe('what a hostile model writes', () => {
  test.each([true, false])('does nothing and loads nothing (while it grows: %s)', async (growing) => {
    const text = HOSTILE.join('\n\n')
    for (let end = 1; growing && end < text.length; end += 11) show(text.slice(0, end), true)
    show(text)
    await pictureFails()
    expect(window).not.toHaveProperty('hurt')
    expect(
      box.querySelectorAll('script, img, svg:not(.icon), style, iframe, form, input, math, [onload]'),
    ).toHaveLength(0)
    expect([
      ...box.querySelectorAll('.prose [id], .prose [class], .prose [style], .prose [data-focus]'),
    ]).toEqual([])
    expect(box.querySelectorAll('.prose button')).toHaveLength(0)
    const addresses = performance.getEntriesByType('resource').map((entry) => entry.name)
    expect(addresses.filter((name) => name.includes('example.invalid'))).toEqual([])
  })

  test('keeps links to the web only, and those open apart without a word of where they were', () => {
    show(
      `${HOSTILE.join('\n\n')}\n\n[web](https://example.com/a "title") <https://example.org> [mail](mailto:a@example.com)`,
    )
    const links = [...box.querySelectorAll<HTMLAnchorElement>('a[href]')]
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      'https://example.invalid/pixel.png',
      'https://example.com/a',
      'https://example.org',
      'mailto:a@example.com',
    ])
    for (const link of links) {
      expect(link.target).toBe('_blank')
      expect(link.rel).toBe('noopener noreferrer nofollow')
    }
  })

  test('shows a picture as a link that says whose it is', () => {
    show('![a <b>buoy</b>](https://example.com/buoy.png)')
    expect(box.textContent?.trim()).toBe('Image: a <b>buoy</b> (example.com)')
  })
})

describe('a growing answer', () => {
  test('leaves finished blocks alone, down to the node', () => {
    show('# Tides\n\nThe first paragraph.\n\nThe second one.\n\nThe thi', true)
    const before = [...box.querySelectorAll('.prose > *')]
    show('# Tides\n\nThe first paragraph.\n\nThe second one.\n\nThe third grows', true)
    const after = [...box.querySelectorAll('.prose > *')]
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBe(before[1])
    expect(after.at(-1)?.textContent).toBe('The third grows')
    show('# Tides\n\nThe first paragraph.\n\nThe second one.\n\nThe third grows.')
    expect(box.querySelector('.prose > *')).toBe(before[0])
  })

  test('appends to the text of a code block', () => {
    show('```ts\nconst a', true)
    const code = box.querySelector('code')
    const text = code?.firstChild
    show('```ts\nconst a = 1', true)
    expect(box.querySelector('code')?.firstChild).toBe(text)
    expect(code?.textContent).toBe('const a = 1')
  })

  test('gives code its button, in a list too once that is finished', () => {
    const list = '1. run\n\n   ```sh\n   ls -a\n   ```\n'
    show(list, true)
    expect(box.querySelectorAll('button')).toHaveLength(0)
    show(list)
    expect(box.querySelectorAll('button[aria-label="Copy code"]')).toHaveLength(1)
    show('```sh\nls\n```')
    expect(box.querySelectorAll('button[aria-label="Copy code"]')).toHaveLength(1)
  })

  test('keeps what Markdown says of a table and a list', () => {
    show('| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n3. three\n4. four\n\n- [x] done')
    expect(box.querySelectorAll('td[align="right"]')).toHaveLength(1)
    expect(box.querySelector('ol')?.start).toBe(3)
    expect(box.textContent).toContain('☑ done')
  })
})
