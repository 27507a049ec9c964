import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import { type Ports, urlOf } from '../../local/settings.ts'
import { cannot } from '../failure.ts'
import { ROOT } from '../root.ts'
import type { Deployment } from './deployment.ts'

const template = v.looseObject({
  functions: v.record(v.string(), v.looseObject({ timeout: v.optional(v.number(), 6) })),
})

/** The local stack as serverless.yml and the port variables describe it. */
export const localDeployment = (ports: Ports): Deployment => {
  // Its !Ref and !GetAtt are of no interest here.
  const read = v.safeParse(
    template,
    parse(readFileSync(join(ROOT, 'serverless.yml'), 'utf8'), { logLevel: 'error' }),
  )
  if (!read.success) throw cannot('read serverless.yml', 'its functions are not as expected')
  return {
    webhookUrl: `${urlOf(ports.relay)}/webhook`,
    apiUrl: urlOf(ports.relay),
    accountingUrl: urlOf(ports.sandbox),
    functions: Object.fromEntries(
      Object.entries(read.output.functions).map(([key, { timeout }]) => [
        key,
        { name: `order-relay-local-${key}`, timeout },
      ]),
    ),
  }
}
