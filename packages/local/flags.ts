import { parseArgs } from 'node:util'

type Flags = Readonly<Record<string, { type: 'boolean'; short?: string }>>

/**
 * Reads options without values, and other arguments.
 *
 * @param action such as `run the demo`
 * @throws Error that names an unknown option
 */
export const readFlags = (action: string, args: readonly string[], options: Flags) => {
  const { positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const given = tokens.flatMap(token => (token.kind === 'option' ? [token] : []))
  const wrong = given.find(({ name, value }) => !Object.hasOwn(options, name) || value !== undefined)
  if (wrong !== undefined) {
    const option = wrong.value === undefined ? wrong.rawName : `${wrong.rawName}=${wrong.value}`
    const valid = Object.keys(options).map(name => `--${name}`)
    throw new Error(`Cannot ${action}: "${option}" is not an option; the options are ${valid.join(', ')}`)
  }
  return { positionals, has: (name: string) => given.some(option => option.name === name) }
}

/** The arguments of the process; if they are wrong, prints the error and ends the process with exit code 2. */
export const givenArguments = <Arguments>(read: (args: readonly string[]) => Arguments): Arguments => {
  try {
    return read(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}
