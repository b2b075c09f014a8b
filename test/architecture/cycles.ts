import { posix } from 'node:path'
import type { Source } from './source.ts'

/** The files that a file needs to run: its imports of values. */
function needs({ path, program }: Source): string[] {
  return program.body.flatMap((node) => {
    const from =
      node.type === 'ImportDeclaration' && node.importKind !== 'type'
        ? node.source.value
        : (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') &&
            node.exportKind !== 'type'
          ? node.source?.value
          : undefined
    return from?.startsWith('.') ? [posix.join(posix.dirname(path), from)] : []
  })
}

/** Each circle of files that import one another, said once, from its first file in the order given. */
export function cyclesOf(sources: readonly Source[]): string[] {
  const edges = new Map(sources.map((source) => [source.path, needs(source)]))
  const settled = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) found.push([...trail.slice(start), path].join(' → '))
    if (start >= 0 || settled.has(path)) return
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
    settled.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  return found
}
