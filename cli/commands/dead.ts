import { filters } from '../queues/options.ts'
import { requireChoice } from '../queues/selection.ts'
import { act, type Relay } from '../relay-command.ts'
import { choiceOf, discard, list, rehearse, replay, show } from '../replay/dead-reports.ts'

/** `relay dead`: what was given up after all its tries. */
export const deadCommands = (relay: Relay): void => {
  const dead = relay.command('dead').description('Dead letters: what was given up after all its tries.')
  const { source, order, event, since, limit } = filters
  dead
    .command('list')
    .description('List dead letters of the order line and of HTTP feeds.')
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .addOption(limit())
    .action((options, command) => act(command, place => list(place, options)))
  dead
    .command('show')
    .description('Show one dead letter, with its body.')
    .argument('<id>', 'its message id, or the id of the delivery or request within')
    .addOption(limit())
    .action((id, options, command) => act(command, place => show(place, id, options)))
  dead
    .command('replay')
    .description(
      'Send dead letters again, in their order. Repeating is safe: the worker compares with what it knows.',
    )
    .argument('[ids...]', 'message ids, or ids of the deliveries or requests within')
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .option('--all', 'all of them')
    .option('--dry-run', 'send nothing: show which payment, refund and create calls would be made')
    .addOption(limit())
    .action((ids, { all, dryRun, ...options }, command) =>
      act(command, async place => {
        requireChoice('replay dead letters', ids, { ...options, all })
        return dryRun ? rehearse(place, choiceOf(ids, options)) : replay(place, ids, options)
      }),
    )
  dead
    .command('discard')
    .description('Delete dead letters for good; what they said is printed once more with --json.')
    .argument('<ids...>', 'message ids, or ids of the deliveries or requests within')
    .addOption(limit())
    .action((ids, options, command) => act(command, place => discard(place, ids, options)))
}
