import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumArgs, findChromium } from './scripts/chromium.mjs'
import { doorAliases } from './scripts/doors.mjs'

const chromium = findChromium()

const browserTests = ['test/**/*.browser.test.{ts,tsx}']
const e2eTests = ['test/e2e/**/*.test.ts']

export default defineConfig({
  plugins: [react()],
  // Demo and tests import the package by its name, as a user does, and get the source.
  resolve: { alias: doorAliases() },
  build: { outDir: 'demo/dist', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 2_000 },
  test: {
    reporters: ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [...browserTests, ...e2eTests],
          // Two cores may have much else to do: a test that is quick alone need not be so then.
          testTimeout: 40_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // All of them up front: a dependency found in mid-run would reload the page under a running test.
        optimizeDeps: {
          include: [
            'dexie',
            'eventsource-parser',
            'fast-check',
            'nanoid',
            'react',
            'react-dom',
            'react-dom/client',
            'react/jsx-dev-runtime',
            'zod/mini',
          ],
        },
        test: {
          name: 'browser',
          include: browserTests,
          testTimeout: 40_000,
          sequence: { groupOrder: 1 },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { args: chromiumArgs, ...(chromium ? { executablePath: chromium } : {}) },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: e2eTests,
          // Each starts servers and a browser of its own: one file at a time, with time to spare on a busy machine.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
