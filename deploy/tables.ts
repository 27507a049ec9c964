import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { FAILING_INDEX, HISTORY_INDEXES, TABLES, UNSETTLED_INDEX } from '../lib/platform/names.ts'
import type { Resources, Stack } from './cloudformation.ts'

/** A table, in terms that the template and the local stack share: keys and indexes as CreateTable takes them. */
export type Table = {
  /** The CloudFormation logical id. */
  id: string
  name: string
  schema: Pick<CreateTableCommandInput, 'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes'>
  /** Whether the table outlives the stack, see docs/deploy.md. */
  retained: boolean
  /** Properties that only AWS has. */
  aws: Record<string, unknown>
}

export const DELIVERIES_ID = 'DeliveriesTable'
export const HISTORY_ID = 'HistoryTable'

/**
 * The logical id of the orders table. A restored table, which has another name, is another resource: CloudFormation
 * can import it and release the old one, but not exchange the one for the other.
 */
export const ordersId = ({ ordersTable = TABLES.orders }: Pick<Stack, 'ordersTable'>): string =>
  `OrdersTable${ordersTable === TABLES.orders ? '' : Buffer.from(ordersTable).toString('hex')}`

export const tablesOf = ({
  prefix,
  ordersTable = TABLES.orders,
}: Pick<Stack, 'prefix' | 'ordersTable'>): Table[] => [
  {
    // The deliveries that were queued. The table may be lost: the worker is idempotent by state.
    id: DELIVERIES_ID,
    name: prefix + TABLES.deliveries,
    schema: {
      AttributeDefinitions: [{ AttributeName: 'delivery', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'delivery', KeyType: 'HASH' }],
    },
    retained: false,
    aws: { TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true } },
  },
  {
    // What the worker did to the orders, for people. The table may be lost: nothing is decided by it.
    id: HISTORY_ID,
    name: prefix + TABLES.history,
    schema: {
      AttributeDefinitions: ['partition', 'at', ...HISTORY_INDEXES].map(AttributeName => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [
        { AttributeName: 'partition', KeyType: 'HASH' },
        { AttributeName: 'at', KeyType: 'RANGE' },
      ],
      // Sparse: only entries that say something new have these attributes.
      GlobalSecondaryIndexes: HISTORY_INDEXES.map(name => ({
        IndexName: name,
        KeySchema: [{ AttributeName: name, KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    },
    retained: false,
    aws: {},
  },
  {
    id: ordersId({ ordersTable }),
    name: prefix + ordersTable,
    schema: {
      AttributeDefinitions: [
        { AttributeName: 'source', AttributeType: 'S' },
        { AttributeName: 'external_id', AttributeType: 'S' },
        { AttributeName: 'unsettled', AttributeType: 'S' },
        { AttributeName: 'check_at', AttributeType: 'N' },
        { AttributeName: 'failing_shard', AttributeType: 'S' },
        { AttributeName: 'failing_since', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'source', KeyType: 'HASH' },
        { AttributeName: 'external_id', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          // Sparse: only unsettled orders have these attributes.
          IndexName: UNSETTLED_INDEX,
          KeySchema: [
            { AttributeName: 'unsettled', KeyType: 'HASH' },
            { AttributeName: 'check_at', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['checks'] },
        },
        {
          // Sparse: only orders whose event fails.
          IndexName: FAILING_INDEX,
          KeySchema: [
            { AttributeName: 'failing_shard', KeyType: 'HASH' },
            { AttributeName: 'failing_since', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['failing'] },
        },
      ],
    },
    retained: true,
    aws: {
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    },
  },
]

export const tableResources = (tables: readonly Table[]): Resources =>
  Object.fromEntries(
    tables.map(({ id, name, schema, retained, aws }) => {
      const Properties = {
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        ...schema,
        ...aws,
        SSESpecification: { SSEEnabled: true },
      }
      return [
        id,
        {
          Type: 'AWS::DynamoDB::Table',
          // A deployment that fails while it creates the table leaves none behind, unless it is protected already.
          DeletionPolicy: retained ? 'RetainExceptOnCreate' : 'Delete',
          UpdateReplacePolicy: retained ? 'Retain' : 'Delete',
          Properties,
        },
      ]
    }),
  )
