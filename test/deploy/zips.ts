import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Files in a function's zip that are not its own code, from the listing of Python's zipfile. */
export const foreignFiles = (name: string, listing: string): string[] => {
  const files = listing
    .split('\n')
    .slice(1)
    .flatMap(line => line.trim().split(/\s{2,}/)[0] || [])
  const own = `functions/${name}.mjs`
  const foreign = files.filter(file => file !== own && !file.endsWith('/') && file !== 'package.json')
  if (!files.includes(own)) return [`${name}.zip has no ${own}, only ${files.join(', ')}`]
  return foreign.map(file => `${name}.zip has ${file}, which is not its own code`)
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`

/** Zips that exceed their budget or have none. */
export const overBudget = async (
  folder: string,
  allowed: Readonly<Record<string, number>>,
): Promise<string[]> => {
  const zips = (await readdir(folder)).filter(name => name.endsWith('.zip'))
  const problems = zips.map(async zip => {
    const { size } = await stat(join(folder, zip))
    const limit = allowed[zip.replace(/\.zip$/, '')]
    if (limit === undefined) return `${zip} has no budget: give it one in deploy/budget.json`
    return size > limit
      ? `${zip} has ${kib(size)}, and its budget is ${kib(limit)} (deploy/budget.json)`
      : undefined
  })
  return (await Promise.all(problems)).filter(problem => problem !== undefined)
}
