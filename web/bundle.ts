import { build } from 'esbuild'

/**
 * A web page's script and style sheet, from the TSX and CSS that its entry file imports.
 *
 * @param entry path of the entry file
 */
export const bundle = async (entry: string): Promise<{ script: string; style: string }> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
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
  const textOf = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? ''
  return { script: textOf('.js'), style: textOf('.css') }
}
