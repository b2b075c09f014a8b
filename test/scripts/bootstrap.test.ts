import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkNode, nodeHeaders, whyInstall } from '../../scripts/bootstrap.mjs'

test.each(['20.19.0', '20.20.2', '22.0.0', '26.1.0'])('Node %s is new enough', (version) => {
  expect(() => checkNode(version)).not.toThrow()
})

test.each(['20.18.3', '18.20.0', '4.9.1'])('Node %s is refused, with both versions named', (version) => {
  expect(() => checkNode(version)).toThrow(`need Node 20.19 or newer; this is Node ${version}.`)
})

describe('packages are installed again', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
      'node_modules/b': { version: '2.0.0', integrity: 'sha512-b', optional: true },
    },
  }
  const a = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } }

  test('when there are none', () => {
    expect(whyInstall(lock, null)).toBe('packages are not installed')
  })
  test('when one is missing', () => {
    expect(whyInstall(lock, { packages: {} })).toBe('node_modules/a is missing')
  })
  test('when one has another version, or other contents', () => {
    const other = { version: '1.0.1', integrity: 'sha512-a' }
    const mended = { version: '1.0.0', integrity: 'sha512-z' }
    expect(whyInstall(lock, { packages: { 'node_modules/a': other } })).toBe('node_modules/a changed')
    expect(whyInstall(lock, { packages: { 'node_modules/a': mended } })).toBe('node_modules/a changed')
  })
  test('but not for an optional one that is made for another system', () => {
    expect(whyInstall(lock, { packages: a })).toBeNull()
  })
})

describe('the headers beside a Node', () => {
  function prefixWith(version: string): string {
    const prefix = mkdtempSync(join(tmpdir(), 'tidemark-node-'))
    const folder = join(prefix, 'include', 'node')
    mkdirSync(folder, { recursive: true })
    const [major, minor, patch] = version.split('.')
    const defines = { MAJOR: major, MINOR: minor, PATCH: patch }
    const lines = Object.entries(defines).map(([part, value]) => `#define NODE_${part}_VERSION ${value}`)
    writeFileSync(join(folder, 'node_version.h'), lines.join('\n'))
    return prefix
  }

  test('are used when they are of its version', () => {
    const prefix = prefixWith('20.19.0')
    expect(nodeHeaders(join(prefix, 'bin', 'node'), 'v20.19.0')).toBe(prefix)
  })
  test('are left alone when they are of another, or absent', () => {
    const prefix = prefixWith('18.0.0')
    expect(nodeHeaders(join(prefix, 'bin', 'node'), 'v20.19.0')).toBeNull()
    expect(nodeHeaders(join(tmpdir(), 'nowhere', 'bin', 'node'), 'v20.19.0')).toBeNull()
  })
})
