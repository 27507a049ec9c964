import { startSqs } from '../sqs.ts'

/** Runs the embedded SQS in a process of its own, which a test can kill: port, directory, queues to release. */
const [port = '', path = '', ...release] = process.argv.slice(2)
await startSqs({ port: Number(port), path, release })
process.send?.('ready')
