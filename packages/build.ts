// Writes the dist/ of a published package, from which it is packed: node packages/build.ts <folder of the package>
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** In this repository a package exports its sources; those under their own path are for its other packages only. */
type Manifest = {
  name: string
  exports: Readonly<Record<string, string>>
  bin?: Readonly<Record<string, string>>
  /** `engines`, if npm would otherwise warn about the Node version that installs this repository. */
  publishConfig: { engines?: object }
  scripts?: object
  devDependencies?: object
}

const read = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** `./src/index.ts` is `./index.js` in `dist/`. */
const built = (source: string, extension = 'js') =>
  source.replace('./src/', './').replace(/\.[jt]s$/, `.${extension}`)

/** The published fields, without those that only this repository uses. */
const publishedManifest = ({
  exports,
  bin,
  scripts: _,
  devDependencies: __,
  publishConfig: { engines },
  ...rest
}: Manifest) => ({
  ...rest,
  ...(engines !== undefined && { engines }),
  ...(bin !== undefined && {
    bin: Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, built(file)])),
  }),
  exports: Object.fromEntries(
    Object.entries(exports)
      .filter(([name, source]) => name !== source)
      .map(([name, source]) => [name, { types: built(source, 'd.ts'), default: built(source) }]),
  ),
})

const folder = resolve(process.argv[2] ?? '.')
const dist = join(folder, 'dist')
rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const { build } = await import(join(folder, 'build.ts'))
await build(dist)
writeFileSync(
  join(dist, 'package.json'),
  `${JSON.stringify(publishedManifest(read(folder)), undefined, 2)}\n`,
)
for (const page of globSync('*.md', { cwd: folder })) cpSync(join(folder, page), join(dist, page))
cpSync(join(import.meta.dirname, '../LICENSE'), join(dist, 'LICENSE'))
