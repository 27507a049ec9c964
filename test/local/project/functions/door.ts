import { setTimeout as sleep } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda'

const answer = (statusCode: number, body: unknown): APIGatewayProxyResultV2 => ({
  statusCode,
  body: JSON.stringify(body),
})

export const handler = async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> => {
  switch (event.pathParameters?.way) {
    case 'environment':
      return answer(200, process.env)
    case 'throw':
      throw new Error('a detail that no caller shall see')
    case 'hang':
      await sleep(60_000)
      return answer(200, {})
    case 'wait':
      await sleep(20)
      return answer(200, { thread: threadId })
    case 'body':
      return answer(200, { body: event.body, isBase64Encoded: event.isBase64Encoded })
    default:
      return answer(404, {})
  }
}
