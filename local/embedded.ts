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

export type EmbeddedOptions = {
  settings: Pick<Settings, 'ports' | 'dataDir'>
  region: string
  resources: Resources
  resolve: Resolve
}

/** Starts DynamoDB, SQS and Parameter Store and creates in them what the template declares. */
export const startEmbedded = async ({ settings, region, resources, resolve }: EmbeddedOptions) => {
  const { ports, dataDir } = settings
  const tables = tablesOf(resources, resolve)
  const queues = queuesOf(resources, resolve)

  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const starting = {
    dynamodb: startDynamodb({ port: ports.dynamodb, path: join(dataDir, 'dynamodb') }),
    sqs: startSqs({ port: ports.sqs, region, path: join(dataDir, 'queues.jsonl') }),
    parameterStore: startParameterStore({ port: ports.ssm, path: join(dataDir, 'parameters.json'), region }),
  }
  const close = async () => {
    const started = await Promise.allSettled(Object.values(starting))
    await Promise.all(started.map(part => part.status === 'fulfilled' && part.value.close()))
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

export type Embedded = Awaited<ReturnType<typeof startEmbedded>>
