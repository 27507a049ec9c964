import { filters } from '../queues/options.ts'
import { requireChoice } from '../queues/selection.ts'
import { act, type Relay } from '../relay-command.ts'
import { choiceOf, discard, list, rehearse, replay, show } from '../replay/quarantine-reports.ts'

/** `relay quarantine`: what is authentic and could not be read (promise P12). */
export const quarantineCommands = (relay: Relay): void => {
  const quarantine = relay
    .command('quarantine')
    .description('Quarantine: what was authentic and could not be read.')
  const { source, order, event, since, limit } = filters
  quarantine
    .command('list')
    .description('List what is in quarantine, and whether it can be read by now.')
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .addOption(limit())
    .action((options, command) => act(command, place => list(place, options)))
  quarantine
    .command('show')
    .description('Show one message of the quarantine, with its body as it came.')
    .argument('<id>', 'its message id, or the id of the delivery within')
    .addOption(limit())
    .action((id, options, command) => act(command, place => show(place, id, options)))
  quarantine
    .command('replay')
    .description('Put what can be read by now on the order line; what still cannot be read stays.')
    .argument('[ids...]', 'message ids, or ids of the deliveries within')
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .option('--all', 'all of them')
    .option('--dry-run', 'send nothing: show which payment, refund and create calls would be made')
    .addOption(limit())
    .action((ids, { all, dryRun, ...options }, command) =>
      act(command, async place => {
        requireChoice('replay from quarantine', ids, { ...options, all })
        return dryRun ? rehearse(place, choiceOf(ids, options)) : replay(place, ids, options)
      }),
    )
  quarantine
    .command('discard')
    .description('Delete messages for good; what they said is printed once more with --json.')
    .argument('<ids...>', 'message ids, or ids of the deliveries within')
    .addOption(limit())
    .action((ids, options, command) => act(command, place => discard(place, ids, options)))
}
