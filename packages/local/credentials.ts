import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import * as v from 'valibot'
import { codeOf } from './ports.ts'
import { listenerOf } from './same-user.ts'
import { type Ports, REGION, urlOf } from './settings.ts'

/** The file in the data directory that holds the variables with which a store reads its queue. */
export const ENVIRONMENT_FILE = 'aws.env'

export type Credentials = { accessKeyId: string; secretAccessKey: string }

/** The secret is the access key id, which is readable in each request; signatures are not checked. */
const variables = v.looseObject({
  AWS_ACCESS_KEY_ID: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  AWS_SECRET_ACCESS_KEY: v.string(),
})

/**
 * Reads the variables that the local stack with this data directory has written.
 *
 * @throws Error with the code ENOENT if it has never started
 */
export const readEnvironment = async (dataDir: string) =>
  v.parse(variables, parseEnv(await readFile(join(dataDir, ENVIRONMENT_FILE), 'utf8')))

/** The credentials of the local stack with this data directory, as an SDK's provider. @throws as readEnvironment */
export const credentialsIn = (dataDir: string) => async (): Promise<Credentials> => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = await readEnvironment(dataDir)
  return { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }
}

/**
 * Whether a user other than the owner of the credentials serves a port of this machine, if the system shows it. While
 * the local stack is stopped, anyone can take its ports, and the credentials are readable in each request.
 */
export const isServedByOther = async (dataDir: string, port: number): Promise<boolean> => {
  const listener = listenerOf(port)
  return listener !== undefined && listener !== (await stat(join(dataDir, ENVIRONMENT_FILE))).uid
}

/**
 * The credentials of earlier starts with this data directory, otherwise new ones.
 *
 * @throws Error when the file exists but cannot be opened
 */
export const keptCredentials = async (dataDir: string): Promise<Credentials> => {
  try {
    return await credentialsIn(dataDir)()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && !v.isValiError(error)) throw error
    return { accessKeyId: randomBytes(32).toString('hex'), secretAccessKey: 'local' }
  }
}

/** The environment variables that a store needs to read its queue. */
export const queueEnvironment = (ports: Ports, credentials: Credentials): Record<string, string> => ({
  AWS_ENDPOINT_URL_SQS: urlOf(ports.sqs),
  AWS_REGION: REGION,
  // For version 1 of the AWS CLI, and Python.
  AWS_DEFAULT_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
})

/** The environment variables that direct an AWS SDK to the emulators instead of the developer's account. */
export const awsEnvironment = (ports: Ports, credentials: Credentials): Record<string, string> => ({
  ...queueEnvironment(ports, credentials),
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
  AWS_ENDPOINT_URL_SSM: urlOf(ports.ssm),
})

/** Replaces the file atomically, readable by its owner only. */
export const saveEnvironment = async (
  dataDir: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> => {
  const path = join(dataDir, ENVIRONMENT_FILE)
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(`${path}.next`, lines.join(''), { mode: 0o600 })
  await rename(`${path}.next`, path)
}

const authorizationOf = (accessKeyId: string) => `AWS4-HMAC-SHA256 Credential=${accessKeyId}/`

/** The header that takes the place of a signature. */
export const signedAs = ({ accessKeyId }: Credentials) => ({ authorization: authorizationOf(accessKeyId) })

/** Whether a request is signed with the access key id of these credentials; compared in constant time. */
export const isSignedAs = ({ accessKeyId }: Credentials, headers: IncomingHttpHeaders): boolean => {
  const expected = Buffer.from(authorizationOf(accessKeyId))
  const found = Buffer.from(headers.authorization ?? '').subarray(0, expected.length)
  return found.length === expected.length && timingSafeEqual(found, expected)
}
