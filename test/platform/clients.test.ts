import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { GetParameterCommand } from '@aws-sdk/client-ssm'
import { expect, test } from '@jest/globals'
import { REGION, urlOf } from '@order-relay/local/settings.ts'
import { dynamodbClient, sqsClient, ssmClient } from '../../lib/platform/clients.ts'
import { CREDENTIALS } from '../support/parts.ts'
import { startServer } from '../support/server.ts'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** The Authorization header of a POST without a query, derived as documented for Signature Version 4. */
const expectedAuthorization = ({ url = '', headers }: IncomingMessage, body: Buffer): string => {
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? ''
  const signed = names.split(';').map(name => `${name}:${headers[name]}\n`)
  const request = ['POST', url, '', signed.join(''), names, sha256(body)].join('\n')
  const time = String(headers['x-amz-date'])
  const [, service = ''] = /\/(\w+)\/aws4_request/.exec(headers.authorization ?? '') ?? []
  const steps = [time.slice(0, 8), REGION, service, 'aws4_request']
  const scope = steps.join('/')
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')
  const key = steps.reduce<string | Buffer>(hmac, `AWS4${CREDENTIALS.secretAccessKey}`)
  const signature = hmac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${CREDENTIALS.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

test('signs the requests of each client, including non-ASCII content', async () => {
  const authorizations: { sent: string | undefined; expected: string }[] = []
  await using closing = new AsyncDisposableStack()
  const server = await startServer(async (request, body) => {
    authorizations.push({
      sent: request.headers.authorization,
      expected: expectedAuthorization(request, body),
    })
    return { status: 400, body: JSON.stringify({ __type: 'ValidationException' }) }
  })
  closing.defer(server.close)
  const endpoint = urlOf(server.port)
  const config = { endpoint, region: REGION, credentials: CREDENTIALS }
  const name = 'سفارش'
  await Promise.allSettled([
    dynamodbClient(config).send(new GetItemCommand({ TableName: 'orders', Key: { order: { S: name } } })),
    sqsClient(config).send(new SendMessageCommand({ QueueUrl: `${endpoint}/1/q`, MessageBody: name })),
    ssmClient(config).send(new GetParameterCommand({ Name: name })),
  ])
  expect(authorizations).toHaveLength(3)
  for (const { sent, expected } of authorizations) expect(sent).toBe(expected)
})
