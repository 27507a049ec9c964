import { QUEUES } from '../../lib/platform/names.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { explain } from '../core/errors.ts'
import { type Finding, findingsReport, problem } from '../core/findings.ts'
import { URL_OPTION } from '../core/options.ts'
import type { Report } from '../core/output.ts'
import { webhookUrlOf } from '../core/registrations.ts'
import { progress } from '../core/terminal.ts'
import { CHECKS } from './checks.ts'

/** The findings of each topic, as soon as it is checked. */
export async function* diagnose(context: Context, given?: string): AsyncGenerator<Finding[]> {
  const url = await webhookUrlOf(context, given)
  // Fails when there is no relay at all, before every check does.
  await context.queueUrl(QUEUES.orders)
  for (const [topic, check] of Object.entries(CHECKS)) {
    yield await check(context, url).catch(error => [
      problem(`check ${topic}`, explain(error, context).message, 'fix this and run the command again'),
    ])
  }
}

const doctor = async (context: Context, options: { url?: string | undefined }): Promise<Report> => {
  using shown = progress(context.terminal, 'Checking', Object.keys(CHECKS).length)
  const findings: Finding[] = []
  for await (const found of diagnose(context, options.url)) {
    findings.push(...found)
    shown.advance()
  }
  return findingsReport(findings, context.title)
}

/** `relay doctor`: finds problems and says how to fix them. */
export const doctorCommand = ({ program, run }: Cli): void => {
  program
    .command('doctor')
    .description(
      'Check settings, secrets, the accounting service, queues and stores, and say how to fix what is wrong. The exit code is 1 when there is a problem.',
    )
    .addOption(URL_OPTION)
    .action(run(doctor))
}
