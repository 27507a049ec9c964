/** The port of the connector on this machine, unless the variable WOO_PORT names another. */
export const WOO_PORT = 4100

/** The names of the connector's resources in a stage, as in serverless.yml. */
export const namesOf = (stage: string) => {
  const name = `order-relay-woocommerce-${stage}`
  return { stack: name, table: name, queue: `${name}.fifo`, path: `/order-relay-woocommerce/${stage}` }
}

/** The index of the orders that need attention. */
export const NEEDS_INDEX = 'needs'

const keys = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: 'HASH' as const },
  { AttributeName: range, KeyType: 'RANGE' as const },
]

/** The keys of the table and of its index, as in serverless.yml. */
export const TABLE_SCHEMA = {
  AttributeDefinitions: ['source', 'order', 'needs', 'since'].map(AttributeName => ({
    AttributeName,
    AttributeType: 'S' as const,
  })),
  KeySchema: keys('source', 'order'),
  GlobalSecondaryIndexes: [
    {
      IndexName: NEEDS_INDEX,
      KeySchema: keys('needs', 'since'),
      Projection: { ProjectionType: 'ALL' as const },
    },
  ],
}
