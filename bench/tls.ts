import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { portOf } from '../test/support/address.ts'

export type Certificate = { file: string; cert: Buffer; key: Buffer }

/**
 * Makes a self-signed certificate of the loopback address.
 *
 * @throws when there is no openssl
 */
export const makeCertificate = async (folder: string): Promise<Certificate> => {
  const file = join(folder, 'certificate.pem')
  const keyFile = join(folder, 'key.pem')
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'],
    ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-out', file, '-keyout', keyFile],
  ]).catch(cause => {
    throw new Error('Cannot make a certificate: openssl failed; install openssl', { cause })
  })
  return { file, cert: await readFile(file), key: await readFile(keyFile) }
}

/** Terminates TLS in front of an HTTP server. */
export const startTls = async (target: string, { cert, key }: Certificate) => {
  const { hostname, port } = new URL(target)
  const server = createServer({ cert, key, noDelay: true }, socket => {
    const behind = connect({ port: Number(port), host: hostname, noDelay: true })
    socket.pipe(behind).pipe(socket)
    // Functions are killed at any moment.
    socket.on('error', () => behind.destroy())
    behind.on('error', () => socket.destroy())
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${portOf(server)}`,
    // Functions keep their connections open until they are killed, which is before this.
    close: async () => void server.close(),
  }
}
