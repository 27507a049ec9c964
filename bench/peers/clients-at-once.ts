import type { Dynamodb } from '../../lib/aws/dynamodb.ts'
import type { Sqs } from '../../lib/aws/sqs.ts'
import type { Ssm } from '../../lib/aws/ssm.ts'

// Stands in for lib/aws.ts: clients that answer by themselves, for the benchmark of CPU time without AWS.

export const dynamodbClient = (): Dynamodb => ({
  getItem: async () => ({}),
  query: async () => ({}),
  putItem: async () => ({}),
  updateItem: async () => ({}),
})

export const sqsClient = (): Sqs => ({
  sendMessage: async () => ({}),
  changeMessageVisibilityBatch: async () => ({}),
})

export const ssmClient = (): Ssm => ({
  getParameter: async () => ({}),
  getParametersByPath: async ({ Path }) => ({
    Parameters: [{ Name: `${Path}/one`, Value: process.env.WEBHOOK_SECRET }],
  }),
})
