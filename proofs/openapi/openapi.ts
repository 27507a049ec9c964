import { afterAll, expect, test } from '@jest/globals'
import { startSandbox } from 'order-relay-sandbox'
import { fetchJson } from '../../test/support/fetch-json.ts'
import { useFolder } from '../../test/support/folder.ts'
import { testRelay, testSandbox } from '../../test/support/openapi/servers.ts'
import { projectWithPersianStore, SELF } from '../../test/support/project.ts'
import { local, useLocalStack } from '../../test/support/relay.ts'
import { relayApi, storeOf } from '../../test/support/steps.ts'

/** `npm run proof -- openapi` sets these. */
const { OPENAPI_RUNS = '3000', OPENAPI_SEED = `${Date.now() % 1_000_000}` } = process.env
const [runs, seed] = [Number(OPENAPI_RUNS), Number(OPENAPI_SEED)]
const TIMEOUT_MS = 60_000 + 60 * runs

/** With fewer requests, some operations only get requests that fail. The panel has many, and answers quickly. */
const isEnough = runs >= 3000

/** Whether these succeed depends on what random requests before them left, such as an invoice to pay. */
const BY_STATE = new Set([
  ...[
    'reviewOrder',
    'correctOrder',
    'payOrder',
    'reversePayment',
    'returnOrder',
    'reverseReturn',
    'repayOrder',
    'reverseRepayment',
  ],
  ...['resendDelivery', 'createExamples'],
])

const folder = useFolder()
const sandbox = await startSandbox({ port: 0 })
afterAll(() => sandbox.close())
useLocalStack({ project: () => projectWithPersianStore(folder('project')) })

test(
  'the responses of the sandbox match its document',
  async () => {
    // Otherwise a seed decides whether the retries find an order in review. No random stock covers these.
    const items = [{ sku: 'SKU-3', quantity: 1e9, unit_price: 1000 }]
    for (const external_id of '123x') {
      const body = { external_id, items }
      const url = `${sandbox.url}/api/v1/orders/`
      expect((await fetchJson(url, { method: 'POST', body, key: 'sandbox-key' })).status).toBe(201)
    }
    const { mismatches, unsuccessful } = await testSandbox(sandbox.url, { runs: 3 * runs, seed })
    expect({ seed, mismatches }).toEqual({ seed, mismatches: [] })
    if (isEnough)
      expect({ seed, unsuccessful: unsuccessful.filter(id => !BY_STATE.has(id)) }).toEqual({
        seed,
        unsuccessful: [],
      })
  },
  TIMEOUT_MS,
)

test(
  'the responses of the relay match its document',
  async () => {
    // Otherwise a seed decides whether the reads of such orders find any.
    for (const id of ['x/payment', 'x/refund'])
      await storeOf(id, relayApi(`local-${SELF}`)).create({ source: SELF })
    const { mismatches, unsuccessful } = await testRelay(local.stack().urls.relay, SELF, { runs, seed })
    expect({ seed, mismatches }).toEqual({ seed, mismatches: [] })
    if (isEnough) expect({ seed, unsuccessful }).toEqual({ seed, unsuccessful: [] })
  },
  TIMEOUT_MS,
)
