import { startSqs } from '../sqs.ts'

/** Runs the embedded SQS in a separate process that a test can kill. Arguments: port, directory, queues to release. */
const [port = '', path = '', ...release] = process.argv.slice(2)
await startSqs({ port: Number(port), path, release })
process.send?.('ready')
