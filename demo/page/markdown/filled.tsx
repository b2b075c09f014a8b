import { type ReactNode, type RefObject, useLayoutEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { CopyButton } from '../copy-button.tsx'
import type { MarkdownBlock } from './blocks.ts'
import { safeNodes } from './html.ts'

interface Place {
  element: HTMLElement
  code: string
}

function placeIn(pre: HTMLElement): Place {
  const code = pre.textContent ?? ''
  const element = document.createElement('span')
  element.className = 'nested-copy'
  pre.append(element)
  return { element, code }
}

/**
 * Fills an element with a block, safely, and gives the code inside of it (in a step of a list, say) its buttons, which
 * React puts among nodes that it does not know. Only once the block is finished: until then every word replaces them.
 */
export function useFilled(
  ref: RefObject<HTMLElement | null>,
  block: MarkdownBlock,
  open: boolean,
): ReactNode {
  const [places, setPlaces] = useState<readonly Place[]>([])
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    element.replaceChildren(safeNodes(block.token))
    const found = open ? [] : [...element.querySelectorAll('pre')].map(placeIn)
    if (found.length === 0) return
    setPlaces(found)
    return () => setPlaces([])
  }, [ref, block, open])
  return places.map(({ element, code }, index) =>
    createPortal(<CopyButton text={code} label="Copy code" />, element, String(index)),
  )
}
