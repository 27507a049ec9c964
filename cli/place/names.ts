import { feedQueueName } from '../../lib/feeds/sqs.ts'

/** The names that serverless.yml gives to what it makes. */
export const namesOf = (stage: string, local: boolean) => {
  const prefix = local ? '' : `order-relay-${stage}-`
  return {
    stack: `order-relay-${stage}`,
    deliveries: `${prefix}deliveries`,
    orders: `${prefix}orders`,
    line: `${prefix}order-line.fifo`,
    dead: `${prefix}order-line-dead.fifo`,
    feedsDead: `${prefix}feeds-dead.fifo`,
    quarantine: `${prefix}quarantine`,
    feed: (source: string) => `${prefix}${feedQueueName(source)}`,
    /** What stands before the name of every secret in Parameter Store. */
    secrets: `/order-relay/${stage}`,
  }
}

export type Names = ReturnType<typeof namesOf>
