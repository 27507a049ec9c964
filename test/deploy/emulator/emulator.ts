import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { dirname, join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { freePorts } from '@order-relay/local/ports.ts'
import { ROOT } from '../../support/project.ts'
import { until } from '../../support/until.ts'
import { filledPolicy } from '../template/permissions/policies.ts'

const HOST = '127.0.0.1'
const REGION = 'eu-central-1'
const ACCOUNT = '000000000000'

/** The emulator's self-signed certificate. */
const certificateIn = (folder: string) => join(folder, 'ministack-tls/server.crt')

/** An environment that reaches the emulator and not the developer's own account. */
const environmentFor = (url: string, folder: string): NodeJS.ProcessEnv => ({
  // The project's own Node first: the emulator runs functions with the first `node` in PATH.
  PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
  HOME: folder,
  TMPDIR: folder,
  AWS_ENDPOINT_URL: url,
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
  NODE_EXTRA_CA_CERTS: certificateIn(folder),
})

/**
 * Starts an AWS emulator on the loopback address that runs the functions in their own processes and enforces
 * their roles.
 *
 * @param python a Python with MiniStack
 * @param folder for its log and data
 */
export const startEmulator = async (python: string, folder: string) => {
  const { relay: port } = await freePorts()
  // With TLS: the queues deny requests without it.
  const url = `https://${HOST}:${port}`
  const environment = environmentFor(url, folder)
  const { AWS_ENDPOINT_URL: _, NODE_EXTRA_CA_CERTS: certificate = '', ...own } = environment
  const log = createWriteStream(join(folder, 'emulator.log'))
  const child = spawn(python, [join(ROOT, 'test/deploy/emulator/emulator.py')], {
    cwd: folder,
    env: {
      ...own,
      BIND_HOST: HOST,
      MINISTACK_HOST: HOST,
      GATEWAY_PORT: String(port),
      AUTH: 'true',
      USE_SSL: '1',
      MINISTACK_REGION: REGION,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, so that the functions it has started end with it.
    detached: true,
  })
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  const ended = once(child, 'exit')
  const known = getCACertificates()

  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.once('exit', kill)
  const stop = async () => {
    kill()
    await ended
    process.off('exit', kill)
  }
  try {
    await until(async () => {
      if (child.exitCode !== null)
        throw new Error(`Cannot start the emulator: it exited with code ${child.exitCode}`)
      const trusted = await readFile(certificate, 'utf8').catch(() => undefined)
      if (trusted === undefined) return false
      setDefaultCACertificates([...known, trusted])
      const health = await fetch(`${url}/_ministack/health`).catch(() => undefined)
      return health?.ok === true
    }, 60_000)
  } catch (error) {
    await stop()
    throw error
  }
  const iam = async (Action: string, parameters: Record<string, string>) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/iam/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: new URLSearchParams({ Action, Version: '2010-05-08', ...parameters }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Cannot ${Action}: ${response.status} ${text}`)
    return text
  }
  /** Creates the permissions boundary of docs/iam; returns its ARN. */
  const createBoundary = async (stage: string): Promise<string> => {
    const PolicyDocument = filledPolicy('boundary', { REGION, ACCOUNT, STAGE: stage })
    await iam('CreatePolicy', { PolicyName: `order-relay-${stage}-boundary`, PolicyDocument })
    return `arn:aws:iam::${ACCOUNT}:policy/order-relay-${stage}-boundary`
  }
  /**
   * Creates a user with a policy of docs/iam, which the emulator enforces as it does those of roles.
   *
   * @returns the environment with the user's credentials
   */
  const userWith = async (PolicyName: 'deployer' | 'operator', stage: string): Promise<NodeJS.ProcessEnv> => {
    const PolicyDocument = filledPolicy(PolicyName, { REGION, ACCOUNT, STAGE: stage })
    const UserName = `${PolicyName}-${stage}`
    await iam('CreateUser', { UserName })
    await iam('PutUserPolicy', { UserName, PolicyName, PolicyDocument })
    const created = await iam('CreateAccessKey', { UserName })
    const tagOf = (tag: string) => new RegExp(`<${tag}>(.*?)</${tag}>`).exec(created)?.[1] ?? ''
    return {
      ...environment,
      AWS_ACCESS_KEY_ID: tagOf('AccessKeyId'),
      AWS_SECRET_ACCESS_KEY: tagOf('SecretAccessKey'),
    }
  }
  return { url, environment, createBoundary, userWith, stop }
}
