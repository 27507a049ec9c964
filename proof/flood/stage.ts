import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { freePorts } from '../../local/ports.ts'
import { ACCOUNT_ID, urlOf } from '../../local/settings.ts'
import { type Player, ready, startPlayer } from './cast.ts'
import { bundleFunctions } from './functions.ts'
import { provision } from './provision.ts'
import type { FloodOptions } from './run.ts'
import type { Settings } from './settings.ts'

const REGION = 'eu-central-1'
const CREDENTIALS = { accessKeyId: 'store', secretAccessKey: 'local' }
const TROUBLE_SHOWN = 20

const named = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`)

/**
 * Builds the functions and starts everything but the sender.
 *
 * @param directory where data and bundles go
 * @param players takes every process at its start, so that it can be stopped whatever happens
 */
export const setStage = async (directory: string, options: FloodOptions, players: Player[]) => {
  const { plan, receivers, workers, lanes, backlog } = options
  const ports = await freePorts()
  const secret = randomBytes(32).toString('hex')
  const settings: Settings = {
    ...{ plan, region: REGION, ports, directory, lanes, backlog, secret },
    receivers: [],
    functions: await bundleFunctions(join(directory, 'bundles')),
  }
  const trouble: string[] = []
  const hear = (line: string) => {
    if (line.trim() !== '' && trouble.length < TROUBLE_SHOWN) trouble.push(line)
  }
  const start = (name: string, more: Partial<Settings> = {}) => {
    const player = startPlayer(name, { ...settings, ...more }, ports, hear)
    players.push(player)
    return player
  }

  const aws = start('aws')
  await ready([aws])
  const client = (port: number) => ({ region: REGION, credentials: CREDENTIALS, endpoint: urlOf(port) })
  const dynamodb = new DynamoDBClient(client(ports.dynamodb))
  const sqs = new SQSClient(client(ports.sqs))
  const ssm = new SSMClient(client(ports.ssm))
  await provision(
    { dynamodb, sqs, ssm },
    { region: REGION, sqsPort: ports.sqs, sources: plan.sources, secret },
  )
  const doors = named('receiver', receivers).map(name => start(name))
  const functions = [...doors, ...named('worker', workers).map(name => start(name))]
  await ready(functions)

  return {
    aws,
    functions,
    dynamodb,
    sqs,
    /** What the processes said that is neither news nor the usual. */
    trouble,
    queue: (name: string) => `${urlOf(ports.sqs)}/${ACCOUNT_ID}/${name}`,
    startSender: () => start('sender', { receivers: doors.map(({ said }) => said.ready ?? 0) }),
    stop: async () => {
      await Promise.all(functions.map(player => player.stop()))
      for (const one of [dynamodb, sqs, ssm]) one.destroy()
      // Last, since it counts the others' calls and tells of them at its end.
      await aws.stop()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof setStage>>
