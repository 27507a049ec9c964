import {
  CloudFormationClient,
  DescribeStacksCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation'
import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs'
import { DescribeTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import { feedMessage } from './parties.ts'

const isMissing = (error: unknown) =>
  error instanceof Error &&
  /does ?n.t exist|not exist|not found|NotFound/i.test(`${error.name} ${error.message}`)

/** The AWS account under test. */
export const cloudAt = (env: NodeJS.ProcessEnv, stack: string) => {
  const client = {
    endpoint: env.AWS_ENDPOINT_URL ?? '',
    region: env.AWS_REGION ?? '',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  }
  const cloudformation = new CloudFormationClient(client)
  const dynamodb = new DynamoDBClient(client)
  const logs = new CloudWatchLogsClient(client)
  const sqs = new SQSClient(client)
  const ssm = new SSMClient(client)

  const attributes = async (QueueUrl: string) =>
    (await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {}

  return {
    /** The stack's outputs, or undefined when there is no stack. */
    async outputs(): Promise<Record<string, string> | undefined> {
      try {
        const { Stacks: [found] = [] } = await cloudformation.send(
          new DescribeStacksCommand({ StackName: stack }),
        )
        if (found === undefined || found.StackStatus === 'DELETE_COMPLETE') return undefined
        return Object.fromEntries(
          (found.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
        )
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },

    /** The types of the stack's resources by logical id. */
    async resources(): Promise<Record<string, string>> {
      const { StackResourceSummaries = [] } = await cloudformation.send(
        new ListStackResourcesCommand({ StackName: stack }),
      )
      return Object.fromEntries(
        StackResourceSummaries.map(({ LogicalResourceId = '', ResourceType = '' }) => [
          LogicalResourceId,
          ResourceType,
        ]),
      )
    },

    /** Receives and deletes one message of a feed. */
    async takeFromFeed(QueueUrl: string) {
      const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }))
      if (message === undefined) return undefined
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
      return v.parse(feedMessage, message.Body)
    },

    async waiting(QueueUrl: string): Promise<number> {
      return Number((await attributes(QueueUrl)).ApproximateNumberOfMessages)
    },

    /** Sets a queue's maximum receive count; returns the previous one. */
    async setMaxReceives(QueueUrl: string, maxReceiveCount: number): Promise<number> {
      const policy = v.parse(redrivePolicy, (await attributes(QueueUrl)).RedrivePolicy)
      const RedrivePolicy = JSON.stringify({ ...policy, maxReceiveCount })
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { RedrivePolicy } }))
      return policy.maxReceiveCount
    },

    async queues(): Promise<string[]> {
      const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: stack }))
      return QueueUrls.map(url => url.slice(url.lastIndexOf('/') + 1))
    },

    async hasTable(TableName: string): Promise<boolean> {
      try {
        await dynamodb.send(new DescribeTableCommand({ TableName }))
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },

    /** The status of an order's item. */
    async statusOf(TableName: string, source: string, external_id: string): Promise<string | undefined> {
      const Key = { source: { S: source }, external_id: { S: external_id } }
      const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))
      return Item?.status?.S
    },

    /** The parameters below a path. */
    async parameters(Path: string) {
      const { Parameters = [] } = await ssm.send(
        new GetParametersByPathCommand({ Path, Recursive: true, WithDecryption: true }),
      )
      return Parameters.map(({ Name = '', Type, Value = '' }) => ({ Name, Type, Value }))
    },

    /** The errors that a function has logged. */
    async errorsOf(name: string): Promise<string[]> {
      const logGroupName = `/aws/lambda/${stack}-${name}`
      const { events = [] } = await logs
        .send(new FilterLogEventsCommand({ logGroupName }))
        .catch(() => ({ events: [] }))
      return events.flatMap(({ message = '' }) => {
        const line = v.safeParse(errorLine, message)
        return line.success ? [`${name}: ${line.output.message}: ${line.output.error.message}`] : []
      })
    },

    close: () => {
      for (const each of [cloudformation, dynamodb, logs, sqs, ssm]) each.destroy()
    },
  }
}

const errorLine = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ level: v.literal('ERROR'), message: v.string(), error: v.object({ message: v.string() }) }),
)

const redrivePolicy = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ deadLetterTargetArn: v.string(), maxReceiveCount: v.pipe(v.unknown(), v.transform(Number)) }),
)

export type Cloud = ReturnType<typeof cloudAt>
