import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { signed } from '../../lib/aws/sign.ts'

const bytesOf = (key: string | ArrayBuffer | ArrayBufferView) => {
  if (typeof key === 'string') return Buffer.from(key)
  return ArrayBuffer.isView(key) ? Buffer.from(key.buffer, key.byteOffset, key.byteLength) : Buffer.from(key)
}

/** The hash that AWS's signer asks for, with or without a key. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(key))
  }

  update(data: string | Uint8Array) {
    this.#hash.update(data)
  }

  async digest() {
    return new Uint8Array(this.#hash.digest())
  }

  reset() {}
}

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/)
const visible = fc.stringMatching(/^[!-~]{1,60}$/)

test('a request is signed as the signer of the AWS SDK signs it', async () => {
  const signing = fc.record({
    body: fc.string({ unit: 'grapheme' }),
    host: fc.webAuthority({ withPort: true }).map(authority => authority.toLowerCase()),
    target: visible,
    version: fc.constantFrom('1.0', '1.1'),
    service: name,
    region: name,
    accessKeyId: visible,
    secretAccessKey: visible,
    sessionToken: fc.option(visible, { nil: undefined }),
    now: fc.date({
      min: new Date('2000-01-01'),
      max: new Date('2199-01-01'),
      noInvalidDate: true,
    }),
  })
  await fc.assert(
    fc.asyncProperty(signing, async ({ body, host, target, version, service, region, now, ...keys }) => {
      const credentials = {
        accessKeyId: keys.accessKeyId,
        secretAccessKey: keys.secretAccessKey,
        ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
      }
      const headers = { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': target }
      const signer = new SignatureV4({
        service,
        region,
        credentials,
        sha256: Sha256,
        applyChecksum: false,
      })
      const request = { method: 'POST', protocol: 'https:', hostname: host, path: '/', body }
      const theirs = await signer.sign({ ...request, headers: { ...headers, host } }, { signingDate: now })
      const ours = signed({ host, headers, body }, { service, region, credentials, now })
      expect(ours).toEqual(theirs.headers)
    }),
  )
})
