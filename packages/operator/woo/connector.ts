import { urlOf } from '@order-relay/local/settings.ts'
import type { Connection } from '@order-relay/woocommerce/lib/connections.ts'
import { connectionId } from '@order-relay/woocommerce/lib/connections.ts'
import { NEEDS_INDEX, namesOf, WOO_PORT } from '@order-relay/woocommerce/lib/names.ts'
import { eventQueue } from '@order-relay/woocommerce/lib/queue.ts'
import type { Enqueue } from '@order-relay/woocommerce/lib/receiver.ts'
import { createShop } from '@order-relay/woocommerce/lib/shop.ts'
import { stateRepository } from '@order-relay/woocommerce/lib/states.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { shellWord } from '../core/output.ts'

/** The base URL of the connector's endpoint, from the outputs of its stack. */
const endpointOf = async ({ local, terminal, aws, stage, region }: Context): Promise<string> => {
  if (local) return urlOf(Number(terminal.environment.WOO_PORT ?? WOO_PORT))
  const { stack } = namesOf(stage)
  const remedy = `deploy it: npx serverless deploy --stage ${stage}, in connectors/woocommerce`
  const client = await aws.cloudFormation()
  const { Stacks = [] } = await client.describeStacks({ StackName: stack }).catch(error => {
    throw cannot('find the connector', `there is no stack ${stack} in ${region}`, remedy, error)
  })
  const endpoint = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'Endpoint')?.OutputValue
  if (endpoint === undefined)
    throw cannot('find the connector', `the stack ${stack} has no output Endpoint`, remedy)
  return endpoint
}

/** The connector of this stage: its connections, the state of its orders, and its queue. */
export const connectorOf = (context: Context) => {
  const { dynamodb, sqs, stage } = context
  const { table, queue, path } = namesOf(stage)
  const parameters = context.parametersAt(path)
  const states = stateRepository(dynamodb, table)
  const connections = async () =>
    (await parameters.below('')).map(({ value }) => JSON.parse(value) as Connection)
  return {
    states,
    endpoint: () => endpointOf(context),
    connections,
    /** @throws Failure unless the store is connected */
    connection: async (source: string): Promise<Connection> => {
      const text = await parameters.get(connectionId(source))
      if (text !== undefined) return JSON.parse(text) as Connection
      const remedy = `relay woo connect ${shellWord(source)} --shop <url>${context.flags}`
      throw cannot(`use the shop of "${source}"`, 'it is not connected', remedy)
    },
    find: async (source: string): Promise<Connection | undefined> => {
      const text = await parameters.get(connectionId(source))
      return text === undefined ? undefined : (JSON.parse(text) as Connection)
    },
    save: (connection: Connection) =>
      parameters.put(connectionId(connection.settings.source), JSON.stringify(connection)),
    remove: (source: string) => parameters.remove(connectionId(source)),
    shopOf: ({ shop }: Connection) => createShop(shop),
    /** The function that queues events. */
    queue: async (): Promise<Enqueue> => {
      const { QueueUrl = '' } = await sqs.getQueueUrl({ QueueName: queue })
      return eventQueue(sqs, QueueUrl).enqueue
    },
    /** The orders of a shop that need attention, longest waiting first. */
    needing: async function* (source: string) {
      const pages = dynamodb.paginateQuery({
        TableName: table,
        IndexName: NEEDS_INDEX,
        KeyConditionExpression: 'needs = :source',
        ExpressionAttributeValues: { ':source': { S: source } },
      })
      for await (const { Items = [] } of pages) {
        for (const { order, since } of Items) {
          const { state, revision } = await states.get(source, order?.S ?? '')
          if (state.attention === undefined) continue
          yield { order: order?.S ?? '', since: since?.S ?? '', attention: state.attention, state, revision }
        }
      }
    },
  }
}
