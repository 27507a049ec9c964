import { explainSignature } from 'order-relay-store'
import type { Cli } from './core/command.ts'
import { since } from './core/options.ts'
import { readInput, readSecret } from './core/terminal.ts'

type SignedRequest = {
  /** The value of X-Service-Signature. */
  signature: string
  body: Uint8Array
  secret: string
  /** @default now */
  receivedAt?: Date | undefined
}

export const explainDelivery = async ({
  signature,
  body,
  secret,
  receivedAt = new Date(),
}: SignedRequest) => {
  const headers = { 'x-service-signature': signature }
  const data = await explainSignature({ headers, body, secret, receivedAt: receivedAt.getTime() / 1000 })
  return { data, text: [data.cause, data.remedy].filter(Boolean).join('\nRemedy: '), ok: data.valid }
}

/** `relay explain-signature`: why a delivery's signature does not verify. */
export const explainSignatureCommand = ({ program, run }: Cli): void => {
  program
    .command('explain-signature')
    .description(
      'Explain why a signature does not verify: a changed body, another form of the secret, a wrong clock. ' +
        'The secret is read from standard input or prompted for, and stays on this machine.',
    )
    .requiredOption('--signature <value>', 'value of the header X-Service-Signature')
    .requiredOption('--body <file>', 'file with the body as it was received')
    .option(
      '--received-at <when>',
      'when it was received: 10m, or a date with its time (default: now)',
      since,
    )
    .action(
      run(async ({ terminal }, { body: file, ...options }) => {
        const body = await readInput(file)
        return explainDelivery({ ...options, body, secret: await readSecret(terminal, 'the secret') })
      }),
    )
}
