import { join } from 'node:path'
import { type PageAbout, pageFiles } from '@order-relay/web/page.ts'

/** The panel's sources, and in the published package its built files. */
const FOLDER = join(import.meta.dirname, 'panel')

export const PANEL: PageAbout = {
  name: 'panel',
  title: 'Accounting sandbox',
  base: '/panel/static/',
  noscript: 'The panel needs JavaScript. The same actions are plain HTTP below /panel/; see /docs.',
}

export const panelFile = pageFiles(FOLDER, PANEL)
