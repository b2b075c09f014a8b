import { join } from 'node:path'
import { build } from 'vite'
import { root } from '../scripts/bootstrap.mjs'

/** What is measured, built as an app ships it, into `folder`: the same file for Node and for the browser. */
export async function bundleCases(folder: string): Promise<string> {
  await build({
    root: join(root, 'bench'),
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      lib: { entry: join(root, 'bench', 'peers', 'cases.ts'), formats: ['es'], fileName: () => 'cases.mjs' },
    },
  })
  return join(folder, 'cases.mjs')
}
