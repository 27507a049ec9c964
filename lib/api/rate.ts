import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import { HOUR, type Runtime, unixSeconds } from '../platform/environment.ts'

/** Requests are counted in windows of this length, in seconds, so that a short burst exceeds no limit. */
const WINDOW = 10

/** One request in eight is counted, with weight eight: counting every request would cost a write unit each. */
export const SAMPLE = 8

type RateOptions = Pick<Runtime, 'now' | 'random'> & {
  /** Requests per second of each store; 0 for no limit. */
  limit: number
  onError: (error: unknown) => void
}

/**
 * Limits the requests of each store, so that one store cannot use up the rate of the route that all stores share.
 * All environments of the function count in one item; an environment refuses the rest of a window once its own
 * count shows that the window is full. The limit is therefore approximate.
 */
export const storeRate = (
  dynamodb: DynamoDB,
  TableName: string,
  { limit, now, random, onError }: RateOptions,
) => {
  /** When the full window of a store ends, in milliseconds. */
  const full = new Map<string, number>()
  return {
    /** Seconds until a store may send again; undefined unless it exceeds its limit. */
    retryAfter(source: string): number | undefined {
      const left = (full.get(source) ?? 0) - now()
      return left > 0 ? Math.ceil(left / 1000) : undefined
    },
    /** Counts a request of a store. Never rejects. */
    async count(source: string): Promise<void> {
      if (limit === 0 || random() >= 1 / SAMPLE) return
      const window = Math.floor(unixSeconds(now()) / WINDOW)
      const counted = new UpdateItemCommand({
        TableName,
        Key: { delivery: { S: `rate ${window} ${source}` } },
        UpdateExpression: 'ADD requests :sample SET expires_at = :expires',
        ExpressionAttributeValues: {
          ':sample': { N: String(SAMPLE) },
          ':expires': { N: String(unixSeconds(now()) + HOUR) },
        },
        ReturnValues: 'UPDATED_NEW',
      })
      try {
        const { Attributes } = await dynamodb.send(counted)
        if (Number(Attributes?.requests?.N) > limit * WINDOW) full.set(source, (window + 1) * WINDOW * 1000)
      } catch (error) {
        onError(error)
      }
    },
  }
}

export type StoreRate = ReturnType<typeof storeRate>
