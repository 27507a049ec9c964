import { deadCommands } from './commands/dead.ts'
import { deliveriesCommands } from './commands/deliveries.ts'
import { doctorCommand } from './commands/doctor.ts'
import { keyCommands } from './commands/key.ts'
import { ordersCommands } from './commands/orders.ts'
import { quarantineCommands } from './commands/quarantine.ts'
import { receiptCommand } from './commands/receipt.ts'
import { registerCommand } from './commands/register.ts'
import { rotateCommand } from './commands/rotate.ts'
import { sandboxCommand } from './commands/sandbox.ts'
import { sendCommand } from './commands/send.ts'
import { storesCommands } from './commands/stores.ts'
import { tailCommand } from './commands/tail.ts'
import { unregisterCommand } from './commands/unregister.ts'
import { relayCommand } from './relay-command.ts'

const AFTER = `
Exit codes:
  0  all is well
  1  something needs doing, or went wrong
  2  the command makes no sense as it was given

Results go to standard output, progress and errors to standard error. With --json, both are JSON.
Secrets are read from standard input or asked for, never taken as arguments.`

/** The whole command. */
export const relayProgram = () => {
  const relay = relayCommand()
  // Inherited by the subcommands made from here on.
  relay
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .addHelpText('after', AFTER)
  relay.commandsGroup('Set up:')
  keyCommands(relay)
  registerCommand(relay)
  rotateCommand(relay)
  unregisterCommand(relay)
  storesCommands(relay)
  relay.commandsGroup('Watch:')
  doctorCommand(relay)
  ordersCommands(relay)
  deliveriesCommands(relay)
  tailCommand(relay)
  receiptCommand(relay)
  relay.commandsGroup('Mend:')
  deadCommands(relay)
  quarantineCommands(relay)
  relay.commandsGroup('Try out:')
  sendCommand(relay)
  sandboxCommand(relay)
  return relay
}
