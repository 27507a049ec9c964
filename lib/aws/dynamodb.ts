import type { GetItemInput, PutItemInput, QueryInput, UpdateItemInput } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import type { Call } from './call.ts'

const attribute = v.object({
  S: v.optional(v.string()),
  N: v.optional(v.string()),
  BOOL: v.optional(v.boolean()),
})
const item = v.record(v.string(), attribute)
const found = v.object({ Item: v.optional(item) })
const foundAll = v.object({ Items: v.optional(v.array(item)) })

/** What is used of DynamoDB. The class `DynamoDB` of AWS's SDK has these methods too, and can stand in. */
export type Dynamodb = {
  getItem: (input: GetItemInput) => Promise<v.InferOutput<typeof found>>
  query: (input: QueryInput) => Promise<v.InferOutput<typeof foundAll>>
  putItem: (input: PutItemInput) => Promise<unknown>
  updateItem: (input: UpdateItemInput) => Promise<unknown>
}

export const DYNAMODB = { name: 'dynamodb', target: 'DynamoDB_20120810', version: '1.0' } as const

export const dynamodb = (call: Call): Dynamodb => ({
  getItem: async input => v.parse(found, await call('GetItem', input)),
  query: async input => v.parse(foundAll, await call('Query', input)),
  putItem: input => call('PutItem', input),
  updateItem: input => call('UpdateItem', input),
})
