import { readFile } from 'node:fs/promises'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import { parse, type ScalarTag } from 'yaml'
import { feedQueueName } from '../../lib/feeds/sqs.ts'
import { createQueues, createTables } from '../../local/provision.ts'
import { queuesOf, tablesOf } from '../../local/resources.ts'
import { QUEUE, type Resources, resolver, resourcesSchema } from '../../local/settings.ts'

export const SECRETS_PATH = '/order-relay/flood'

const TAGS: ScalarTag[] = ['GetAtt', 'Sub'].map(name => ({
  tag: `!${name}`,
  resolve: text => ({ [`Fn::${name}`]: text }),
}))

const declared = async (file: string): Promise<Resources> => {
  const text = await readFile(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
  const read: unknown = parse(text.replaceAll(`\${param:prefix}`, ''), { customTags: TAGS })
  return v.parse(v.object({ Resources: resourcesSchema }), read).Resources
}

/** As deploy/feeds.cjs makes them for stores with an SQS feed. */
const feed = (source: string): Resources[string] => ({
  Type: QUEUE,
  Properties: {
    QueueName: feedQueueName(source),
    FifoQueue: true,
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  },
})

export type Clients = { dynamodb: DynamoDBClient; sqs: SQSClient; ssm: SSMClient }

/** Creates the tables and queues of the template, one feed for each store, and keeps the webhook's secret. */
export const provision = async (
  { dynamodb, sqs, ssm }: Clients,
  options: { region: string; sqsPort: number; sources: readonly string[]; secret: string },
): Promise<void> => {
  const { region, sqsPort, sources, secret } = options
  const feeds = Object.fromEntries(sources.map((source, index) => [`Feed${index}`, feed(source)]))
  const resources = { ...(await declared('tables.yml')), ...(await declared('queues.yml')), ...feeds }
  const resolve = resolver({ resources, region, stackName: 'flood', sqsPort })
  await createTables(dynamodb, tablesOf(resources, resolve))
  await createQueues(sqs, queuesOf(resources, resolve))
  const Name = `${SECRETS_PATH}/webhook-secrets/flood`
  await ssm.send(new PutParameterCommand({ Name, Value: secret, Type: 'SecureString' }))
}
