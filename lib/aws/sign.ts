import { createHmac, hash } from 'node:crypto'

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }

/** A POST to the root of an AWS service. */
export type Signable = {
  host: string
  /** By lower-case name; all of them are signed. */
  headers: Readonly<Record<string, string>>
  body: string
}

export type SigningOptions = { service: string; region: string; credentials: Credentials; now: Date }

const sha256 = (text: string) => hash('sha256', text)
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text)

/**
 * The headers of a request with those that prove who sends it (AWS Signature Version 4). `test/aws` holds
 * this against the signer of AWS's own SDK.
 */
export const signed = (
  { host, headers, body }: Signable,
  { service, region, credentials, now }: SigningOptions,
): Record<string, string> => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const all = {
    ...headers,
    host,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  }
  const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = sorted.map(([name]) => name).join(';')
  const lines = sorted.map(([name, value]) => `${name}:${value}\n`).join('')
  const request = `POST\n/\n\n${lines}\n${names}\n${sha256(body)}`

  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [region, service, 'aws4_request'].reduce<Uint8Array>(
    (derived, part) => hmac(derived, part).digest(),
    hmac(`AWS4${secretAccessKey}`, day).digest(),
  )
  const signature = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(request)}`).digest('hex')
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}
