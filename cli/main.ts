import { inspect } from 'node:util'
import { CommanderError } from '@commander-js/extra-typings'
import { EXIT, Failure } from './failure.ts'
import { relayProgram } from './program.ts'

const given = process.argv.slice(2)
const program = relayProgram()

/** The command that was meant, as far as its words are known: whose help will help. */
const meant = () => {
  const names = ['relay']
  let { commands } = program
  for (const word of given.filter(part => !part.startsWith('-'))) {
    const command = commands.find(candidate => candidate.name() === word)
    if (command === undefined) break
    names.push(word)
    commands = command.commands
  }
  return names.join(' ')
}

const wordsOf = (error: unknown) => {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof CommanderError)) return error.message
  const found = error.message.replace(/^error: |\.$/g, '').replaceAll(/\s*\n\s*/g, ' ')
  return `Cannot read the command: ${found}; see ${meant()} --help`
}

const complain = (error: unknown) => {
  const message = wordsOf(error)
  process.stderr.write(
    given.includes('--json') ? `${JSON.stringify({ error: { message } })}\n` : `${message}\n`,
  )
  if (given.includes('--verbose')) process.stderr.write(`${inspect(error)}\n`)
}

const exitOf = (error: unknown) => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  return error instanceof Failure ? error.exit : EXIT.failure
}

// Who reads our output may have had enough of it: relay … | head
process.stdout.on('error', error => {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  throw error
})

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitOf(error)
  // Help, asked for or shown for want of a subcommand, says all there is to say.
  const isHelp = error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')
  if (!isHelp) complain(error)
}
