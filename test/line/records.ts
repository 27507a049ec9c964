import type { SQSRecord } from 'aws-lambda'

export const record = (messageId: string, attributes: Partial<SQSRecord['attributes']> = {}): SQSRecord => ({
  messageId,
  receiptHandle: `handle-${messageId}`,
  body: '',
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '0',
    SenderId: '',
    ApproximateFirstReceiveTimestamp: '0',
    ...attributes,
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: '',
  awsRegion: '',
})
