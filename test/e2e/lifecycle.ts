import type { Page } from 'playwright-core'

/** Freezes a page as the browser does with those that nobody looks at, or has it looked at again. */
export async function setLifecycle(page: Page, state: 'frozen' | 'active'): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setWebLifecycleState', { state })
  await session.detach()
}
