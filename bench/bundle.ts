import { join } from 'node:path'
import { build } from 'vite'
import { root } from '../scripts/bootstrap.mjs'
import { doorAliases } from '../scripts/doors.mjs'

/** A file of bench/ and all it imports, built as an app ships it, into `folder`: the same for Node and for the browser. */
export async function bundleInto(folder: string, entry: string, fileName: string): Promise<string> {
  await build({
    root: join(root, 'bench'),
    configFile: false,
    logLevel: 'error',
    resolve: { alias: doorAliases() },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      lib: { entry: join(root, 'bench', entry), formats: ['es'], fileName: () => fileName },
    },
  })
  return join(folder, fileName)
}
