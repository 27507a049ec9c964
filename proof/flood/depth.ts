import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** How many messages a queue holds, those being worked on included. */
export const waitingIn = async (sqs: SQSClient, QueueUrl: string, signal?: AbortSignal): Promise<number> => {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
    signal === undefined ? {} : { abortSignal: signal },
  )
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
}
