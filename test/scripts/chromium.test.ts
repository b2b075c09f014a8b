import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chromiumCandidates, findChromium } from '../../scripts/chromium.mjs'

test('a Chromium that is asked for is the only one looked for', () => {
  expect(chromiumCandidates({ TIDEMARK_CHROMIUM: 'x', PATH: 'y' }, 'linux')).toEqual(['x'])
})

test('on Linux those on PATH come first, in the order of PATH, Chromium before Chrome', () => {
  const candidates = chromiumCandidates(
    { PATH: ['a', 'b'].join(process.platform === 'win32' ? ';' : ':') },
    'linux',
  )
  const places = [join('a', 'chromium'), join('a', 'google-chrome'), join('b', 'chromium')]
  expect(places.map((place) => candidates.indexOf(place))).toEqual([0, 3, 6])
})

test('macOS and Windows keep Chrome outside PATH', () => {
  expect(chromiumCandidates({}, 'darwin')).toContain(
    join('/Applications', 'Google Chrome.app/Contents/MacOS/Google Chrome'),
  )
  expect(chromiumCandidates({ PROGRAMFILES: 'P' }, 'win32')).toContain(
    join('P', 'Google\\Chrome\\Application\\chrome.exe'),
  )
})

test('the tests have a Chromium to run in', () => {
  expect(findChromium()).toBeDefined()
})
