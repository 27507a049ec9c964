import { type Finding, type Level, problem } from '../doctor/finding.ts'
import { queues } from '../doctor/queues.ts'
import { service } from '../doctor/service.ts'
import { settings } from '../doctor/settings.ts'
import { stores } from '../doctor/stores.ts'
import { webhook } from '../doctor/webhook.ts'
import { explain } from '../explain.ts'
import { Failure } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { progress } from '../progress.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { count } from '../table.ts'
import { webhookUrl } from '../webhook/url.ts'

const EXAMINATIONS = { settings, webhook, service, queues, stores }

const MARKS: Readonly<Record<Level, string>> = { ok: '  ok  ', note: 'note  ', problem: '!!    ' }

/** An examination that could not be made is a finding as well. */
const examine = async (place: Place, name: string, look: () => Promise<Finding[]>) => {
  try {
    return await look()
  } catch (error) {
    const { message } = error instanceof Failure ? error : explain(error, place)
    return [problem(`examine ${name}`, message, 'mend that and call again')]
  }
}

const doctor = async (place: Place, given: string | undefined): Promise<Report> => {
  const url = await webhookUrl(place, given)
  // Without queues there is nothing to examine.
  await place.queueUrl(place.names.line)

  const parts = Object.entries(EXAMINATIONS)
  const shown = progress('Examining', parts.length)
  const findings: Finding[] = []
  for (const [name, look] of parts) {
    findings.push(...(await examine(place, name, () => look(place, url))))
    shown.advance()
  }
  shown.done()

  const problems = findings.filter(({ level }) => level === 'problem')
  const line = ({ check, level, found, remedy }: Finding) =>
    `${MARKS[level]}${check}: ${found}${remedy === undefined ? '' : `\n      → ${remedy}`}`
  return {
    data: { ok: problems.length === 0, problems: problems.length, findings },
    ok: problems.length === 0,
    text: [
      ...findings.map(line),
      problems.length === 0
        ? `All is well with ${place.title}.`
        : `${count(problems.length, 'thing')} to mend in ${place.title}.`,
    ].join('\n'),
  }
}

/** `relay doctor`: what is wrong, and what to do about it. */
export const doctorCommand = (relay: Relay): void => {
  relay
    .command('doctor')
    .description(
      'Examine the relay: settings, secrets, the accounting service, queues, stores. Says what to do; exits with 1 when there is something.',
    )
    .option('--url <url>', "the webhook URL (default: the deployment's own)")
    .action((options, command) => act(command, place => doctor(place, options.url)))
}
