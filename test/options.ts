import { parseArgs } from 'node:util'

/** What a proof was asked cannot be done; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The options of a proof, as its help lists them: `--seed N` takes a value, `--quick` does not. */
export const readOptions = (usage: string) => {
  const listed = [...usage.matchAll(/^ {2}--(\w+)( [A-Z]+)?/gm)]
  const options = Object.fromEntries(
    listed.map(([, name = '', value]) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  const parse = () => {
    try {
      return parseArgs({ options: { ...options, help: { type: 'boolean' } } }).values
    } catch (error) {
      throw new UsageError(`Cannot run: ${error instanceof Error ? error.message : error}; see --help`)
    }
  }
  const values: Readonly<Record<string, string | boolean | undefined>> = parse()
  const text = (name: string) => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  const numberOf = (name: string, given: string, max: number): number => {
    if (/^\d{1,10}(\.\d+)?$/.test(given) && Number(given) <= max) return Number(given)
    throw new UsageError(`Cannot run: --${name} is "${given}"; use a number up to ${max}`)
  }
  return {
    /** Those that were given. */
    given: values,
    has: (name: string): boolean => values[name] === true,
    text,
    number: (name: string, otherwise: number, max = 1e9): number =>
      numberOf(name, text(name) ?? String(otherwise), max),
    list: (name: string): string[] | undefined => text(name)?.split(','),
    numbers: (name: string, max: number): number[] | undefined =>
      text(name)
        ?.split(',')
        .map(each => numberOf(name, each, max)),
    /** The entries whose name contains the text that was given; there must be one. */
    named<Named extends { name: string }>(name: string, all: readonly Named[]): Named[] {
      const given = text(name) ?? ''
      const found = all.filter(each => each.name.includes(given))
      if (found.length > 0) return found
      const names = all.map(each => `\n  ${each.name}`).join('')
      throw new UsageError(`Cannot run: --${name} is "${given}"; use a part of one of these:${names}`)
    },
  }
}

export type Options = ReturnType<typeof readOptions>

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

export const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10
