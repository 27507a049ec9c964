import { parseArgs } from 'node:util'

export const USAGE = `npm run demo -- [connector] [options]

  --stay      keep everything running afterwards
  --verbose   show the output of the components
  --help      show this help
`

const OPTIONS = {
  stay: { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/**
 * Reads the arguments of the demo.
 *
 * @throws Error that names an unknown option, or several connectors
 */
export const readArguments = (args: readonly string[]) => {
  const { positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const given = tokens.flatMap(token => (token.kind === 'option' ? [token] : []))
  const wrong = given.find(({ name, value }) => !Object.hasOwn(OPTIONS, name) || value !== undefined)
  if (wrong !== undefined) {
    const option = wrong.value === undefined ? wrong.rawName : `${wrong.rawName}=${wrong.value}`
    const valid = Object.keys(OPTIONS).map(name => `--${name}`)
    throw new Error(`Cannot run the demo: "${option}" is not an option; the options are ${valid.join(', ')}`)
  }
  const [connector, second] = positionals
  if (second !== undefined)
    throw new Error(`Cannot run the demo: "${connector}" and "${second}" are given; name one connector`)
  const has = (name: keyof typeof OPTIONS) => given.some(option => option.name === name)
  return { connector, stay: has('stay'), verbose: has('verbose'), help: has('help') }
}
