import { once } from 'node:events'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { freePorts } from '@order-relay/local/ports.ts'
import { orderUpdated, signedRequest } from 'order-relay-store/testing'
import { isRunnable, programOf } from '../support/examples.ts'
import { eachWithFolder } from '../support/folder.ts'
import { endPrograms, runProgram, startProgram } from '../support/program.ts'
import { ROOT } from '../support/project.ts'
import { until } from '../support/until.ts'

const folder = eachWithFolder(endPrograms)

const RECEIVERS = ['http-receiver.py', 'http-receiver.php', 'http-receiver.ts']

/** Sends bytes over a connection that stays open, then reads, and returns the first line of the response. */
const exchange = async (port: number, bytes: string) => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  await promisify(socket.write.bind(socket) as (sent: string, done: () => void) => void)(bytes)
  const response = await text(socket)
  socket.destroy()
  return response.split('\r\n')[0]
}
const posting = (header: string) => `POST / HTTP/1.1\r\nhost: store.test\r\n${header}\r\n\r\n`

test.each(RECEIVERS.filter(isRunnable))(
  '%s: limits bodies and serves messages beside connections that send nothing',
  async name => {
    const program = programOf(name)
    const { relay: port } = await freePorts()
    symlinkSync(join(ROOT, 'node_modules'), folder('node_modules'))
    for (const file of [name, 'once.ts', 'once.py']) copyFileSync(join(ROOT, 'examples', file), folder(file))
    const source = readFileSync(folder(name), 'utf8')
    writeFileSync(folder(name), source.replace('REQUEST_SECONDS = 15', 'REQUEST_SECONDS = 2'))
    const args = program === 'php' ? ['-S', `127.0.0.1:${port}`, folder(name)] : [folder(name)]
    const env = { ...process.env, FEED_SECRET: 'secret', PORT: String(port), DATABASE: folder(`${name}.db`) }
    await startProgram(args, { program, env }).printed(/http:\/\/127/)

    if (program !== 'php') {
      const { code, err } = await runProgram(args, { program, env })
      expect(code).toBe(1)
      expect(err).toMatch(
        /^Cannot listen on port \d+: [^\n]*already in use[^\n]*; set PORT to a free port$/im,
      )
      expect(err).not.toMatch(/^ +at |Traceback/m)
    }

    const idle = connect(port, '127.0.0.1').on('error', () => undefined)
    await once(idle, 'connect')
    if (program === 'python3') {
      expect(await exchange(port, posting('content-length: -1'))).toMatch(/ 411 /)
      expect(await exchange(port, posting('content-length: 300000000'))).toMatch(/ 413 /)
    }
    const url = `http://127.0.0.1:${port}/`
    const signal = AbortSignal.timeout(5000)
    const body = 'a'.repeat(4 * 1024 * 1024)
    expect(await exchange(port, posting(`content-length: ${body.length}`) + body)).toMatch(/ 413 /)
    expect((await fetch(url, { method: 'POST', body, signal })).status).toBe(413)
    const signed = await signedRequest(url, orderUpdated({ external_id: '1' }), 'secret')
    expect((await fetch(signed, { signal })).status).toBe(200)
    // A byte now and then does not keep a connection open.
    idle.resume()
    if (program === 'python3') await until(() => idle.destroyed || !idle.write('P'), 10_000)
    idle.destroy()
  },
)
