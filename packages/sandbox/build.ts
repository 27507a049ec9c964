import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VIEWER_FILES, viewerFolder } from '@order-relay/web/api-docs.ts'
import { buildPage } from '@order-relay/web/page.ts'
import * as esbuild from 'esbuild'
import manifest from './package.json' with { type: 'json' }
import { PANEL } from './src/panel-files.ts'

const SRC = join(import.meta.dirname, 'src')

/** The types of the public functions; the other declarations are of parts that the bundle contains. */
const writeTypes = (dist: string) => {
  const folder = mkdtempSync(join(dist, 'types-'))
  execFileSync('tsc', ['-p', import.meta.dirname, '--outDir', folder], { stdio: 'inherit' })
  cpSync(join(folder, 'start.d.ts'), join(dist, 'start.d.ts'))
  rmSync(folder, { recursive: true })
}

/** Bundles the sandbox with what it shares with the relay and its pages; packages of others stay dependencies. */
export const build = async (dist: string): Promise<void> => {
  await esbuild.build({
    entryPoints: [join(SRC, 'start.ts'), join(SRC, 'bin.js')],
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: [...Object.keys(manifest.dependencies), 'esbuild'],
    logLevel: 'warning',
  })
  const panel = join(dist, 'panel')
  mkdirSync(panel)
  for (const [name, content] of await buildPage(join(SRC, 'panel'), PANEL))
    writeFileSync(join(panel, name), content)
  const viewer = join(dist, 'swagger-ui')
  for (const name of [...VIEWER_FILES, 'LICENSE']) cpSync(join(viewerFolder(), name), join(viewer, name))
  writeTypes(dist)
}
