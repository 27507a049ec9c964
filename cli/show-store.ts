import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allow, policy } from '../deploy/cloudformation.ts'
import { CONSUME } from '../deploy/queues.ts'
import { PARAMETERS, storeName } from '../lib/platform/names.ts'
import { queueNames } from '../lib/platform/stores.ts'
import { CREDENTIALS } from '../local/settings.ts'
import { type Context, storeNamed } from './core/context.ts'
import { facts, lines } from './core/output.ts'
import { depthOf } from './core/queue.ts'
import { ROOT } from './core/stack.ts'
import { jsonOf } from './core/webhook.ts'

const PACKAGE_IMPORT = /\/\/ In your own project: from ('[^']+')\n(import .* from) '[^']+'/

/** An example as a project of a store's own needs it: without its header, and with the package in place of its path. */
const example = (file: string): string => {
  const text = readFileSync(join(ROOT, 'examples', file), 'utf8')
  return text.slice(text.indexOf('import ')).replace(PACKAGE_IMPORT, '$2 $1').trimEnd()
}

/** What the developer of a store with an SQS feed needs. */
const forConsumer = ({ local, region }: Context, url: string, arn: string) => {
  // Version 1 of the AWS CLI ignores AWS_ENDPOINT_URL_SQS.
  const aws = local ? `aws --endpoint-url ${new URL(url).origin} sqs` : 'aws sqs'
  return {
    role_policy: policy(allow(CONSUME, [arn])),
    aws_cli: `${aws} receive-message --queue-url ${url} --message-system-attribute-names MessageGroupId --max-number-of-messages 10 --wait-time-seconds 20
${aws} delete-message --queue-url ${url} --receipt-handle "$RECEIPT_HANDLE"`,
    environment: {
      AWS_REGION: region,
      // The AWS CLI before version 2, and Python.
      AWS_DEFAULT_REGION: region,
      ...(local && {
        AWS_ENDPOINT_URL_SQS: new URL(url).origin,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      }),
    },
    code: example('sqs-consumer.ts').replace("process.argv[2] ?? ''", `'${url}'`),
  }
}

/** `relay stores show`. */
export const showStore = async (context: Context, source: string) => {
  const store = storeNamed(context, source)
  const { feed, consumers, dead_letter_after } = store
  const [name = '', deadName] = queueNames(store)
  const [url, { all: waiting, attributes }] = [await context.queueUrl(name), await depthOf(context, name)]
  const dead_letters = deadName === undefined ? undefined : (await depthOf(context, deadName)).all
  const { QueueArn: arn = '', Policy = '' } = attributes
  const secret = await context.parameters.get(`${PARAMETERS.feedSecrets}/${storeName(source)}`)
  const kind =
    feed === 'sqs'
      ? { kind: 'sqs', consumers, dead_letter_after, dead_letters }
      : { kind: 'http', url: feed.http, secret: secret !== undefined }
  const forStore =
    feed === 'sqs'
      ? forConsumer(context, url, arn)
      : {
          environment: { FEED_SECRET: 'the secret of the feed', PORT: '8080' },
          code: example('http-receiver.ts'),
        }
  // The code imports it.
  const snippets = { ...forStore, 'once.ts': example('once.ts') }
  const queue = { url, arn, waiting, policy: jsonOf(Policy) }
  const sections = Object.entries({ ...(Policy !== '' && { policy: queue.policy }), ...snippets })
  return {
    data: { source, feed: kind, queue, snippets },
    text: lines(
      facts({ source, ...kind, consumers: consumers?.join(', '), queue: url, arn, waiting }),
      ...sections.map(([title, content]) => [
        `\n${title}:\n`,
        typeof content === 'string' ? content : JSON.stringify(content, null, 2),
      ]),
    ),
  }
}
