import { Command } from '@commander-js/extra-typings'
import { explain } from './explain.ts'
import { EXIT } from './failure.ts'
import { type Place, placeOf } from './place/place.ts'
import { print, type Report } from './report.ts'

/** The command without its subcommands: the options that all of them have. */
export const relayCommand = () =>
  new Command('relay')
    .description('Sets up, watches and mends an order-relay, on AWS or on this machine.')
    .option('--local', 'the local stack (npm start) instead of AWS')
    .option('--stage <name>', 'stage of the deployment (default: production)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else eu-central-1)')
    .option('--json', 'print one JSON document instead of text')
    .option('--verbose', 'show where an error comes from')

export type Relay = ReturnType<typeof relayCommand>
type Globals = ReturnType<Relay['opts']>

/** A subcommand, as far as its options for all are concerned. */
type Called = { optsWithGlobals: () => Globals }

/** Does a command's work in the place that its options mean, and prints what it found, if it has not yet. */
export const act = async (
  command: Called,
  work: (place: Place) => Promise<Report | undefined>,
): Promise<void> => {
  const globals = command.optsWithGlobals()
  const place = placeOf(globals)
  try {
    const report = await work(place)
    if (report === undefined) return
    print(report, globals.json === true)
    if (report.ok === false) process.exitCode = EXIT.failure
  } catch (error) {
    throw explain(error, place)
  } finally {
    place.close()
  }
}
