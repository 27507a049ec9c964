import { readFile } from 'node:fs/promises'
import { explainSignature } from '../kit/src/explain.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, messageOf } from './core/errors.ts'
import type { Report } from './core/output.ts'
import { readSecret } from './core/terminal.ts'

type Options = { signature: string; body: string; receivedAt?: string | undefined }

const explain = async (
  { terminal }: Context,
  { signature, body: file, receivedAt }: Options,
): Promise<Report> => {
  const arrival = receivedAt === undefined ? Date.now() : Date.parse(receivedAt)
  if (Number.isNaN(arrival)) {
    throw cannot(`read the time "${receivedAt}"`, 'it must be such as 2026-11-22T08:00:00Z')
  }
  const body = await readFile(file).catch(error => {
    throw cannot(`read the body from "${file}"`, messageOf(error))
  })
  const secret = await readSecret(terminal, 'the secret')
  const headers = { 'x-service-signature': signature }
  const data = await explainSignature({ headers, body, secret, receivedAt: arrival / 1000 })
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
    .option('--received-at <time>', 'when it was received, such as 2026-11-22T08:00:00Z (default: now)')
    .action(run(explain))
}
