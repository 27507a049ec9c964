import type { Answer } from '../http.ts'
import type { Received } from './receive.ts'

const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
})

/** What the sender is told. A forger learns nothing: every 401 has one and the same body (P1). */
export const answer = (received: Received): Answer => {
  switch (received.outcome) {
    case 'queued':
    case 'duplicate':
    case 'ignored':
      return { status: 200, body: { status: received.outcome } }
    case 'forged':
      return refusal(401, 'unauthorized', 'The signature is missing or not valid')
    case 'contradictory':
      return refusal(
        400,
        'contradictory',
        `The header ${received.header} does not agree with the signed body`,
      )
    case 'unreadable':
      return refusal(400, 'unreadable', received.reason)
    case 'too large':
      return refusal(413, 'too_large', 'The body has more than 256 KiB')
  }
}

/** SQS or DynamoDB did not answer: nothing was promised, and the sender shall come again. */
export const unavailable: Answer = {
  ...refusal(503, 'unavailable', 'The delivery could not be kept; send it again'),
  headers: { 'retry-after': '5' },
}
