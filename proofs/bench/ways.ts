// Proxies between a function and an emulator.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { urlOf } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import { portOf } from '../../test/support/address.ts'
import { startServer } from '../../test/support/server.ts'

/** A call to AWS as sent over the wire, and its billed units. */
export type AwsCall = {
  action: string
  /** DynamoDB request units. */
  readUnits: number
  writeUnits: number
  /** SQS requests: one for every 64 KB. */
  sqsRequests: number
}

const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem']
const CHUNK_BYTES = 64 * 1024

const request = v.looseObject({
  TableName: v.optional(v.string()),
  Item: v.optional(v.record(v.string(), v.unknown())),
  ReturnValuesOnConditionCheckFailure: v.optional(v.string()),
})
const response = v.looseObject({
  ConsumedCapacity: v.optional(v.object({ CapacityUnits: v.number() })),
  __type: v.optional(v.string(), ''),
})

/**
 * A proxy that forwards every call to an emulator and reports it. Requests the consumed capacity from DynamoDB, and adds
 * the existing item to a refused conditional put, which dynalite does not support.
 */
export const startTap = async (target: string, onCall: (call: AwsCall) => void) => {
  const { port, close } = await startServer(async ({ headers: given }, sent) => {
    const [service = '', action = ''] = String(given['x-amz-target']).split('.')
    const type = { 'content-type': String(given['content-type']) }
    const forward = async (action: string, body: string) => {
      const signed = { authorization: String(given.authorization), 'x-amz-date': String(given['x-amz-date']) }
      const headers = { ...type, ...signed, 'x-amz-target': `${service}.${action}` }
      const answer = await fetch(target, { method: 'POST', headers, body })
      return { status: answer.status, headers: type, body: await answer.text() }
    }
    const none = { action, readUnits: 0, writeUnits: 0, sqsRequests: 0 }
    if (!service.startsWith('DynamoDB')) {
      onCall({
        ...none,
        ...(service === 'AmazonSQS' && { sqsRequests: Math.ceil(sent.length / CHUNK_BYTES) }),
      })
      return forward(action, sent.toString())
    }
    const asked = v.parse(request, JSON.parse(sent.toString()))
    const answer = await forward(action, JSON.stringify({ ...asked, ReturnConsumedCapacity: 'TOTAL' }))
    const answered = v.parse(response, JSON.parse(answer.body))
    const isRefused = answered.__type.endsWith('ConditionalCheckFailedException')
    // A refused conditional write is billed by the size of the existing item; all of them are below 1 KB.
    const units = isRefused ? 1 : (answered.ConsumedCapacity?.CapacityUnits ?? 0)
    onCall({ ...none, [WRITES.includes(action) ? 'writeUnits' : 'readUnits']: units })
    if (!isRefused || asked.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return answer
    const get = { TableName: asked.TableName, Key: { id: asked.Item?.id }, ConsistentRead: true }
    const found = await forward('GetItem', JSON.stringify(get))
    return { ...answer, body: JSON.stringify({ ...answered, ...JSON.parse(found.body) }) }
  })
  return { url: urlOf(port), close }
}

/**
 * Makes a self-signed certificate of the loopback address, with which servers terminate TLS.
 *
 * @throws when there is no openssl
 */
export const startTls = async (folder: string) => {
  const certificate = join(folder, 'certificate.pem')
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'],
    ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-out', certificate, '-keyout', certificate],
  ]).catch(cause => {
    throw new Error('Cannot make a certificate: openssl failed; install openssl', { cause })
  })
  const pem = await readFile(certificate)
  /** Starts a TLS proxy for an HTTP server. */
  const before = async (target: string) => {
    const { hostname, port } = new URL(target)
    const server = createServer({ cert: pem, key: pem, noDelay: true }, socket => {
      const behind = connect({ port: Number(port), host: hostname, noDelay: true })
      socket.pipe(behind).pipe(socket)
      // Functions are killed at any moment.
      socket.on('error', () => behind.destroy())
      behind.on('error', () => socket.destroy())
    })
    server.listen({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    // Functions keep their connections open until they are killed, which is before this.
    return { url: `https://127.0.0.1:${portOf(server)}`, close: async () => void server.close() }
  }
  return { certificate, before }
}
