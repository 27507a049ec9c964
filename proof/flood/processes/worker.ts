// The worker function, bundled as it is deployed, fed from the order line by the local event source.

import { SQSClient } from '@aws-sdk/client-sqs'
import { startEventSource } from '../../../local/event-source.ts'
import { ACCOUNT_ID, urlOf } from '../../../local/settings.ts'
import { askedToEnd, tell, tellMemory } from '../news.ts'
import { fromEnvironment, loadFunction } from '../settings.ts'

const SECONDS = 30
const NAME = 'order-line.fifo'

const { functions, ports, region } = fromEnvironment()
const credentials = { accessKeyId: 'event-source', secretAccessKey: 'local' }
const source = startEventSource({
  sqs: new SQSClient({ region, credentials, endpoint: urlOf(ports.sqs) }),
  queue: {
    url: `${urlOf(ports.sqs)}/${ACCOUNT_ID}/${NAME}`,
    arn: `arn:aws:sqs:${region}:${ACCOUNT_ID}:${NAME}`,
    region,
  },
  batchSize: 10,
  reportsFailures: true,
  invoke: await loadFunction(functions.worker, SECONDS),
  onError: error => process.stderr.write(`${error}\n`),
})
tellMemory()
tell({ ready: 0 })

await askedToEnd()
await source.stop()
process.exit()
