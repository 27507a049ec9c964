import { Logger } from '@aws-lambda-powertools/logger'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { createClient } from 'order-relay-store'
import { type Connection, storedConnections } from './connections.ts'
import { eventQueue } from './queue.ts'
import { createShop } from './shop.ts'
import { stateRepository } from './states.ts'

const variable = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`Cannot start: the variable ${name} is not set`)
  return value
}

/** What every function needs, from the variables of the stack. */
export const environment = () => ({
  connections: storedConnections(new SSMClient(), variable('CONNECTIONS_PATH'), Date.now),
  states: stateRepository(new DynamoDBClient(), variable('TABLE')),
  ...eventQueue(new SQSClient(), variable('QUEUE_URL')),
  openShop: ({ shop }: Connection) => createShop(shop),
  openRelay: ({ relay, settings }: Connection) =>
    createClient({ baseUrl: relay.url, key: relay.key, source: settings.source }),
  now: Date.now,
  logger: new Logger(),
})
