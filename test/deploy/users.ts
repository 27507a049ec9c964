import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './project.ts'

const ACCOUNT = '000000000000'

/**
 * Creates a user with a policy of docs/iam, and returns the environment with its credentials. The emulator enforces
 * policies of users as it does those of roles.
 */
export const userWith = async (
  policy: 'deployer' | 'operator',
  { env, stage }: { env: NodeJS.ProcessEnv; stage: string },
): Promise<NodeJS.ProcessEnv> => {
  const iam = async (Action: string, parameters: Record<string, string> = {}) => {
    const response = await fetch(env.AWS_ENDPOINT_URL ?? '', {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${env.AWS_REGION}/iam/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: new URLSearchParams({ Action, Version: '2010-05-08', UserName: policy, ...parameters }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Cannot ${Action} "${policy}": ${response.status} ${text}`)
    return text
  }
  const document = (await readFile(join(ROOT, `docs/iam/${policy}.json`), 'utf8'))
    .replaceAll('REGION', env.AWS_REGION ?? '')
    .replaceAll('ACCOUNT', ACCOUNT)
    .replaceAll('STAGE', stage)
  await iam('CreateUser')
  await iam('PutUserPolicy', { PolicyName: policy, PolicyDocument: document })
  const created = await iam('CreateAccessKey')
  const tagOf = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`).exec(created)?.[1] ?? ''
  return {
    ...env,
    AWS_ACCESS_KEY_ID: tagOf('AccessKeyId'),
    AWS_SECRET_ACCESS_KEY: tagOf('SecretAccessKey'),
  }
}
