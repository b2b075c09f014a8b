import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'
import { chromiumArgs, findChromium } from '../../scripts/chromium.mjs'

/** How every test of this project starts Chromium. */
export function launchOptions(extra: LaunchOptions = {}): LaunchOptions {
  const executablePath = findChromium()
  return {
    headless: true,
    ...(executablePath ? { executablePath } : {}),
    ...extra,
    args: [...chromiumArgs, ...(extra.args ?? [])],
  }
}

/** A Chromium without a profile: nothing it stores outlives it. */
export const launchBrowser = (extra?: LaunchOptions): Promise<Browser> =>
  chromium.launch(launchOptions(extra))

/** A Chromium whose profile lives in `folder`, for what has to survive the browser's end. */
export const launchWithProfile = (folder: string, extra?: LaunchOptions): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, launchOptions(extra))
