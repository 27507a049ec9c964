import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

type PageFile = readonly [type: string, content: string | Uint8Array<ArrayBuffer>]

export type PageAbout = {
  name: string
  title: string
  /** The path that its files are served at, with a slash at its end. */
  base: string
  /** The text for browsers without JavaScript. */
  noscript: string
}

const TYPES = {
  html: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

const namesOf = ({ name }: PageAbout) => ['index.html', 'icon.svg', `${name}.js`, `${name}.css`]

const typeOf = (name: string) => TYPES[name.slice(name.lastIndexOf('.') + 1) as keyof typeof TYPES]

/** Builds the files of a web page by name: its HTML, its icon, and the script and style sheet of its `main.tsx`. */
export const buildPage = async (
  folder: string,
  about: PageAbout,
): Promise<ReadonlyMap<string, PageFile[1]>> => {
  // A published package has built pages and no esbuild.
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(folder, 'main.tsx')],
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  })
  const built = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? ''
  const template = await readFile(join(import.meta.dirname, 'page.html'), 'utf8')
  const html = template.replace(/\{(\w+)\}/g, (_, place) => about[place as keyof PageAbout])
  const contents = [html, await readFile(join(folder, 'icon.svg')), built('.js'), built('.css')]
  return new Map(namesOf(about).map((name, index) => [name, contents[index] ?? '']))
}

const readPage = async (folder: string, about: PageAbout) =>
  new Map(
    await Promise.all(namesOf(about).map(async name => [name, await readFile(join(folder, name))] as const)),
  )

/**
 * The files of a web page by name, with their types. They are built at the first request, since many processes never
 * show their page, or read where they are built already.
 */
export const pageFiles = (folder: string, about: PageAbout) => {
  let loading: Promise<ReadonlyMap<string, PageFile[1]>> | undefined
  return async (name: string): Promise<PageFile | undefined> => {
    loading ??= existsSync(join(folder, 'index.html')) ? readPage(folder, about) : buildPage(folder, about)
    const content = (await loading).get(name)
    return content === undefined ? undefined : [typeOf(name), content]
  }
}
