import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda'

const respond = (statusCode: number, body: unknown): APIGatewayProxyResultV2 => ({
  statusCode,
  body: JSON.stringify(body),
})

export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> => {
  switch (event.pathParameters?.proxy) {
    case 'environment':
      return respond(200, process.env)
    case 'throw':
      throw new Error('a detail that callers must not see')
    case 'throw-text':
      throw 'no Error'
    case 'throw-status':
      throw { statusCode: 200, body: '{}' }
    case 'throw-later':
      setTimeout(() => {
        throw new Error('nobody catches')
      })
      await sleep(60_000)
      return respond(200, {})
    case 'reject-later':
      Promise.reject(new Error('nobody catches'))
      await sleep(60_000)
      return respond(200, {})
    case 'exit':
      return process.exit(0)
    case 'nothing':
      return undefined as never
    case 'hang':
      await sleep(60_000)
      return respond(200, {})
    case 'wait':
      await sleep(20)
      return respond(200, { thread: threadId })
    case 'elsewhere':
      return respond(404, {})
    default: {
      const { body, isBase64Encoded } = event
      return respond(200, { body, isBase64Encoded })
    }
  }
}
