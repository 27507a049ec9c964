import type { SQSEvent } from 'aws-lambda'

export const handler = async ({ Records }: SQSEvent): Promise<void> => {
  if (Records.length > 0) throw new Error('the batch fails')
}
