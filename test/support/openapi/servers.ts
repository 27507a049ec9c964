import { readFileSync } from 'node:fs'
import type { Operation } from './document.ts'
import { type Exception, type Mismatch, testOpenApi } from './tester.ts'

export type Runs = { runs: number; seed: number }

const read = (name: string): object => JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))

/** The local stack's own data; ids are few, so that most payments find their order. */
const KNOWN = {
  external_id: [...'123456789', 'x', 'x', 'x/payment', 'x/payment', 'x/refund', 'x/refund', 'سفارش'],
  source: ['api'],
  sku: ['SKU-1', 'SKU-2', 'SKU-3'],
  code: ['walk-in'],
  defaultCustomer: ['walk-in'],
  orderPaymentReceivingAccount: ['bank-1'],
  stock: [1000],
  nationalId: ['0012345679'],
  economicCode: ['411111111111'],
  postalCode: ['1234567890'],
  phone: ['021-12345'],
  quantity: [1, 0.5],
  unit_price: [1000, 2_500_000],
  discount: [0, 1],
  mobile: ['09123456789', '+98۹۱۲۱۱۱۲۲۳۳'],
  url: ['http://127.0.0.1:9/x'],
  Prefer: ['wait=1', 'respond-async', 'handling=strict'],
}

const isDuplicate: Exception = (found, { operation }, { body }) =>
  // The body of a registered order is ignored (spec: POST orders).
  operation.operationId === 'createOrder' &&
  found.endsWith('is answered 200') &&
  body.includes('"duplicate":true')

/** What a schema cannot express in the requests of an operation: relations with today and with what is stored, and check digits. */
const RELATIONS: Readonly<Record<string, RegExp>> = {
  correctOrder: /must not be after today/,
  payOrder: /must not be after today/,
  putAccount: /must not be after today/,
  repayOrder: /must not be after today/,
  returnOrder: /must not be after today/,
  reversePayment: /receipt.. is \d+: must be one of/,
  reverseRepayment: /repayment.. is \d+: must be one of/,
  reverseReturn: /return.. is \d+: must be one of/,
  putFiscalYears: /must not overlap the fiscal year/,
  changeSeller: /must have a valid check digit/,
  changeCustomer: /must have a valid check digit/,
}

const isRelation: Exception = (found, { operation }, { body }) =>
  // Between fields, or with what is stored: a schema cannot express it.
  /^a valid .* 400$/.test(found) &&
  (/must agree|must not be before|must not exceed|no record has this code|has a row twice|in at least one row|the invoice has \d+ rows/.test(
    body,
  ) ||
    RELATIONS[operation.operationId]?.test(body) ||
    // In the query or in the body.
    body.includes('Field \\"url\\" is missing'))

const EXCEPTIONS: readonly Exception[] = [isDuplicate, isRelation]

type Found = { mismatches: Mismatch[]; unsuccessful: string[] }

/**
 * Tests a sandbox by its document: first the order API, then the panel, whose settings and fiscal years make orders fail,
 * and last the faults, which make the order API fail.
 *
 * @param document to test with. @default docs/openapi.json
 */
export const testSandbox = async (
  url: string,
  { runs, seed }: Runs,
  document = read('openapi'),
): Promise<Found> => {
  const parts: readonly [share: number, only: (operation: Operation) => boolean][] = [
    [0.5, ({ path }) => path.startsWith('/api/')],
    [0.45, ({ path }) => path.startsWith('/panel/') && path !== '/panel/faults'],
    [0.05, ({ path }) => path === '/panel/faults'],
  ]
  const found: Found = { mismatches: [], unsuccessful: [] }
  for (const [share, only] of parts) {
    const { mismatches, unsuccessful } = await testOpenApi({
      document,
      url,
      key: 'sandbox-key',
      known: KNOWN,
      exceptions: EXCEPTIONS,
      runs: Math.ceil(runs * share),
      seed,
      only,
    })
    found.mismatches.push(...mismatches)
    found.unsuccessful.push(...unsuccessful)
  }
  return found
}

/** A read of a registered order has its invoice, whether or not a request waits. */
const isRegistered = (read: { body: string } | undefined) => /"invoice_number":\d/.test(read?.body ?? '')

const RELAY_EXCEPTIONS: readonly Exception[] = [
  ...EXCEPTIONS,
  // The same duplicate, before the service has answered: the store did not want to wait, or other requests took too long.
  async (found, { operation }, _reply, read) =>
    operation.operationId === 'createOrder' &&
    found === 'an invalid request is answered 202' &&
    isRegistered(await read()),
  // The service decides on a payment without a body, as on one without a method.
  (found, { operation, body }) =>
    operation.operationId === 'registerPayment' && body === undefined && /is answered 20[02]/.test(found),
  // Decoded, the path of an order `x/payment` is the path of the payment of `x`.
  (_found, { verdict, target }) => verdict === 'wrong method' && /%2F(payment|refund)\//.test(target),
  // Fields without effect are refused on request.
  (found, { headers }, { body }) =>
    found.startsWith('a valid') && /strict/.test(headers.Prefer ?? '') && body.includes('has no effect'),
  // The id in the body has the rules of the service; in a path, it has a pattern.
  (found, { operation }, { body }) =>
    operation.operationId === 'createOrder' &&
    found.startsWith('a valid') &&
    body.includes('cannot be addressed'),
]

/**
 * Tests a relay against its document. Its service is a sandbox; what the relay passes on is tested against that document.
 *
 * @param source the store whose key is used; only one that registers its URL can have every request succeed
 */
export const testRelay = (
  url: string,
  source: string,
  { runs, seed }: Runs,
  document = read('relay.openapi'),
): Promise<Found> =>
  testOpenApi({
    document,
    url,
    key: `local-${source}`,
    known: { ...KNOWN, source: [source] },
    runs,
    seed,
    judges: [read('openapi')],
    exceptions: RELAY_EXCEPTIONS,
  })
