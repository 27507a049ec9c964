import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { startDynamodb } from './dynamodb.ts'
import { CREDENTIALS } from './functions-environment.ts'
import type { Resolve, Resources } from './intrinsics.ts'
import { startParameterStore } from './parameter-store.ts'
import { createQueues, createTables } from './provision.ts'
import { queuesOf, tablesOf } from './resources.ts'
import { type Settings, urlOf } from './settings.ts'
import { startSqs } from './sqs.ts'

export type Part = { close: () => Promise<void> }

export type EmbeddedOptions = {
  /** DynamoDB, already started. */
  dynamodb: Part
  settings: Pick<Settings, 'ports' | 'dataDir'>
  region: string
  resources: Resources
  resolve: Resolve
}

/**
 * Starts the embedded DynamoDB. It comes before all else: its database is locked while another stack uses
 * the same data directory.
 */
export const startData = async ({ ports, dataDir }: EmbeddedOptions['settings']): Promise<Part> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  return startDynamodb({ port: ports.dynamodb, path: join(dataDir, 'dynamodb') })
}

/** Starts SQS and Parameter Store and creates, in them and in DynamoDB, what the template declares. */
export const startEmbedded = async (options: EmbeddedOptions) => {
  const { settings, region, resources, resolve } = options
  const { ports, dataDir } = settings
  const tables = tablesOf(resources, resolve)
  const queues = queuesOf(resources, resolve)

  const starting = {
    sqs: startSqs({ port: ports.sqs, region, path: join(dataDir, 'queues.jsonl') }),
    parameterStore: startParameterStore({ port: ports.ssm, path: join(dataDir, 'parameters.json'), region }),
  }
  const close = async () => {
    const started = await Promise.allSettled(Object.values(starting))
    await Promise.all(started.map(part => part.status === 'fulfilled' && part.value.close()))
    await options.dynamodb.close()
  }

  const client = { region, credentials: CREDENTIALS }
  const sqs = new SQSClient({ ...client, endpoint: urlOf(ports.sqs) })
  const dynamodb = new DynamoDBClient({ ...client, endpoint: urlOf(ports.dynamodb) })
  try {
    await Promise.all(Object.values(starting))
    await Promise.all([createTables(dynamodb, tables), createQueues(sqs, queues)])
    await (await starting.sqs).restore()
  } catch (error) {
    await close()
    throw error
  } finally {
    dynamodb.destroy()
  }
  return {
    sqs,
    close: async () => {
      sqs.destroy()
      await close()
    },
  }
}
