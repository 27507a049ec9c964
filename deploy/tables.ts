import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { FAILING_INDEX, HISTORY_INDEXES, TABLES, UNSETTLED_INDEX } from '../lib/platform/names.ts'
import type { Resource, Resources, Stack } from './cloudformation.ts'

/** A table, as defined for the template and the local stack: keys and indexes in the form of CreateTable. */
export type Table = {
  /** The CloudFormation logical id. */
  id: string
  name: string
  schema: Pick<CreateTableCommandInput, 'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes'>
  /** Whether the table outlives the stack, see docs/deploy.md. */
  retained: boolean
  /** Properties that only AWS supports. */
  aws: Record<string, unknown>
}

/** The key of a table or an index: partition key and sort key. */
const keySchema = (hash: string, ...range: string[]) => [
  { AttributeName: hash, KeyType: 'HASH' as const },
  ...range.map(AttributeName => ({ AttributeName, KeyType: 'RANGE' as const })),
]

const definitions = (AttributeType: 'S' | 'N', ...names: string[]) =>
  names.map(AttributeName => ({ AttributeName, AttributeType }))

export const DELIVERIES_ID = 'DeliveriesTable'
export const HISTORY_ID = 'HistoryTable'
export const REGISTRATIONS_ID = 'RegistrationsTable'

/**
 * The logical id of the orders table. A restored table has a different name and is therefore a different resource:
 * CloudFormation can import it and release the old one, but cannot replace one with the other.
 */
export const ordersId = ({ ordersTable = TABLES.orders }: Pick<Stack, 'ordersTable'>): string =>
  `OrdersTable${ordersTable === TABLES.orders ? '' : Buffer.from(ordersTable).toString('hex')}`

/** Items with this attribute are deleted after its time: deliveries, attempts, and what `deleteOrdersAfterDays` deletes. */
const EXPIRING = { TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true } }

/** A table that nothing else can restore. */
const KEPT = {
  retained: true,
  aws: {
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
  },
} as const

export const tablesOf = ({
  prefix,
  ordersTable = TABLES.orders,
}: Pick<Stack, 'prefix' | 'ordersTable'>): Table[] => [
  {
    // Queued deliveries and the announcements of the stores' API to the worker. Losing items is harmless: the worker is
    // idempotent by state, and an announced request is also in the order queue.
    id: DELIVERIES_ID,
    name: prefix + TABLES.deliveries,
    schema: {
      AttributeDefinitions: definitions('S', 'delivery'),
      KeySchema: keySchema('delivery'),
    },
    retained: false,
    aws: EXPIRING,
  },
  {
    // The history of the orders and of the operators' actions, for people. No decision depends on it. Attempts to
    // deliver feed messages expire.
    id: HISTORY_ID,
    name: prefix + TABLES.history,
    schema: {
      AttributeDefinitions: definitions('S', 'partition', 'at', ...HISTORY_INDEXES),
      KeySchema: keySchema('partition', 'at'),
      // Sparse: only entries with new information have these attributes.
      GlobalSecondaryIndexes: HISTORY_INDEXES.map(name => ({
        IndexName: name,
        KeySchema: keySchema(name),
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    },
    retained: false,
    aws: { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true }, ...EXPIRING },
  },
  {
    id: ordersId({ ordersTable }),
    name: prefix + ordersTable,
    schema: {
      AttributeDefinitions: [
        ...definitions('S', 'source', 'external_id', 'unsettled'),
        ...definitions('N', 'check_at'),
        ...definitions('S', 'failing_shard', 'failing_since'),
      ],
      KeySchema: keySchema('source', 'external_id'),
      GlobalSecondaryIndexes: [
        {
          // Sparse: only unsettled orders have these attributes.
          IndexName: UNSETTLED_INDEX,
          KeySchema: keySchema('unsettled', 'check_at'),
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['checks'] },
        },
        {
          // Sparse: only orders with a failing event.
          IndexName: FAILING_INDEX,
          KeySchema: keySchema('failing_shard', 'failing_since'),
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    },
    retained: KEPT.retained,
    aws: { ...KEPT.aws, ...EXPIRING },
  },
  {
    // The URLs that stores have registered. Only the stores know them.
    id: REGISTRATIONS_ID,
    name: prefix + TABLES.registrations,
    schema: { AttributeDefinitions: definitions('S', 'source'), KeySchema: keySchema('source') },
    ...KEPT,
  },
]

export const tableResources = (tables: readonly Table[]): Resources =>
  Object.fromEntries(
    tables.map(({ id, name, schema, retained, aws }) => {
      const given = { TableName: name, BillingMode: 'PAY_PER_REQUEST', ...schema, ...aws }
      const resource: Resource = {
        Type: 'AWS::DynamoDB::Table',
        // Not RetainExceptOnCreate: the table is protected from its creation on, so a rollback could not delete it.
        DeletionPolicy: retained ? 'Retain' : 'Delete',
        UpdateReplacePolicy: retained ? 'Retain' : 'Delete',
        Properties: { ...given, SSESpecification: { SSEEnabled: true } },
      }
      return [id, resource]
    }),
  )
