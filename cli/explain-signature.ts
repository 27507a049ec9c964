import { explainSignature } from '../kit/src/explain.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { since } from './core/options.ts'
import type { Report } from './core/output.ts'
import { readInput, readSecret } from './core/terminal.ts'

type Options = { signature: string; body: string; receivedAt?: Date | undefined }

const explain = async (
  { terminal }: Context,
  { signature, body: file, receivedAt = new Date() }: Options,
): Promise<Report> => {
  const body = await readInput(file)
  const secret = await readSecret(terminal, 'the secret')
  const headers = { 'x-service-signature': signature }
  const data = await explainSignature({ headers, body, secret, receivedAt: receivedAt.getTime() / 1000 })
  return { data, text: [data.cause, data.remedy].filter(Boolean).join('\nRemedy: '), ok: data.valid }
}

/** `relay explain-signature`: why a delivery's signature does not verify. */
export const explainSignatureCommand = ({ program, run }: Cli): void => {
  program
    .command('explain-signature')
    .description(
      'Name the cause of a signature that does not verify: a changed body, another form of the secret, the clock. ' +
        'The secret is read from standard input or prompted for, and stays on this machine.',
    )
    .requiredOption('--signature <value>', 'value of the header X-Service-Signature')
    .requiredOption('--body <file>', 'file with the body as it was received')
    .option(
      '--received-at <when>',
      'when it was received: 10m, or a date with its time (default: now)',
      since,
    )
    .action(run(explain))
}
