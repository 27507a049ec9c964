import { readFlags } from '../flags.ts'

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
  const { positionals, has } = readFlags('run the demo', args, OPTIONS)
  const [connector, second] = positionals
  if (second !== undefined)
    throw new Error(`Cannot run the demo: "${connector}" and "${second}" are given; name one connector`)
  return { connector, stay: has('stay'), verbose: has('verbose'), help: has('help') }
}
