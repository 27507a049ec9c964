import type { APIGatewayProxyEventV2, Context, ScheduledEvent, SQSEvent, SQSRecord } from 'aws-lambda'

/** The context of an invocation, with the time left in milliseconds. */
export const context = (remaining: () => number = () => 30_000): Context => ({
  callbackWaitsForEmptyEventLoop: true,
  functionName: 'function',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:function',
  memoryLimitInMB: '256',
  awsRequestId: 'request',
  logGroupName: 'group',
  logStreamName: 'stream',
  getRemainingTimeInMillis: remaining,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
})

export type Request = {
  method?: string
  /** Path and query, percent-encoded. */
  path?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Unix time in milliseconds. */
  receivedAt?: number
}

/** A request as API Gateway passes it: the path decoded, and a body of bytes as base64. */
/** Later than the clock of any test, so that a request counts as just received. */
const LATER = Date.UTC(2100, 0)

export const httpEvent = ({
  method = 'POST',
  path = '/webhook',
  headers = {},
  body,
  receivedAt = LATER,
}: Request): APIGatewayProxyEventV2 => {
  const { pathname, searchParams, search } = new URL(path, 'http://relay')
  const rawPath = decodeURIComponent(pathname)
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: search.slice(1),
    headers,
    queryStringParameters: Object.fromEntries(searchParams),
    requestContext: {
      accountId: '000000000000',
      apiId: 'api',
      domainName: 'relay',
      domainPrefix: 'relay',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: 'request',
      routeKey: '$default',
      stage: '$default',
      time: '',
      timeEpoch: receivedAt,
    },
    ...(body !== undefined && {
      body: typeof body === 'string' ? body : Buffer.from(body).toString('base64'),
    }),
    isBase64Encoded: typeof body === 'object',
  }
}

/** A record of a queue, received for the first time. */
export const sqsRecord = (
  messageId: string,
  {
    attributes = {},
    ...fields
  }: Partial<Omit<SQSRecord, 'attributes'>> & {
    attributes?: Partial<SQSRecord['attributes']>
  } = {},
): SQSRecord => ({
  messageId,
  receiptHandle: `handle-${messageId}`,
  body: '',
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:orders.fifo',
  awsRegion: 'eu-central-1',
  ...fields,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '0',
    SenderId: '',
    ApproximateFirstReceiveTimestamp: '0',
    ...attributes,
  },
})

export const sqsEvent = (...Records: SQSRecord[]): SQSEvent => ({ Records })

/** The ids of the messages that a function reports as failed. */
export const failedIds = (response: { batchItemFailures: { itemIdentifier: string }[] } | undefined) =>
  response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)

/** An invocation by the schedule. */
export const scheduledEvent: ScheduledEvent = {
  version: '0',
  id: 'scheduled',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '000000000000',
  time: '2026-01-01T00:00:00Z',
  region: 'eu-central-1',
  resources: [],
  detail: {},
}
