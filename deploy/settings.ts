import { MAX_WAIT } from '../lib/api/serve.ts'
import { hostOf, isInternal, isLoopback } from '../lib/platform/addresses.ts'
import { assertPublicFeeds, type Store } from '../lib/platform/stores.ts'
import { isGradual } from './shift.ts'

export type DeploymentSettings = {
  stage: string
  accountingUrl: string
  feedAddresses: string
  accountingTimeZone: string
  waitSeconds: string
  shift: string
  ordersTable: string
  domain: string
  certificateArn: string
  stores: readonly Store[]
}

/** What is wrong with the base URL of the accounting service: the worker sends it the API key. */
const problemOf = (accountingUrl: string): string | undefined => {
  if (accountingUrl === '') return 'is not set'
  const url = URL.parse(accountingUrl)
  // A password must not reach the log of a deployment.
  const shown = JSON.stringify(accountingUrl.replace(/^(\w+:\/\/)?.*@/, '$1***@'))
  if (url === null) return `is ${shown}, which is not a URL`
  if (url.protocol !== 'https:') return `is ${shown}, which does not begin with https://`
  if (url.username !== '' || url.password !== '') return `is ${shown}, which contains a user or password`
  if (url.search !== '' || url.hash !== '') return `is ${shown}, which has a query or fragment`
  if (isLoopback(hostOf(url)) || isInternal(hostOf(url))) return `is ${shown}, which AWS cannot reach`
  return undefined
}

const isTimeZone = (timeZone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) !== undefined
  } catch {
    return false
  }
}

/**
 * Checks that a deployment uses nothing that only the local stack may use: the stage `local` is exempt.
 *
 * @throws with the value and the remedy
 */
export const assertDeployable = ({
  stage,
  accountingUrl,
  feedAddresses,
  accountingTimeZone,
  waitSeconds,
  shift,
  ordersTable,
  domain,
  certificateArn,
  stores,
}: DeploymentSettings) => {
  if (stage === 'local') return
  if (stage.includes('-feed-')) {
    throw new Error(
      `Cannot deploy: the stage "${stage}" contains "-feed-", so the functions of the stage ` +
        `"${stage.slice(0, stage.indexOf('-feed-'))}" could reach its queues; choose another name`,
    )
  }
  const problem = problemOf(accountingUrl)
  if (problem !== undefined) {
    throw new Error(
      `Cannot deploy: the base URL of the accounting service ${problem}; set it, such as ` +
        'ACCOUNTING_URL=https://accounting.example or --param="accountingUrl=https://accounting.example"',
    )
  }
  if (feedAddresses !== 'public') {
    throw new Error(
      `Cannot deploy: feedAddresses is ${JSON.stringify(feedAddresses)}, which only the local stack may use; ` +
        'leave it "public"',
    )
  }
  if (!isTimeZone(accountingTimeZone)) {
    throw new Error(
      `Cannot deploy: accountingTimeZone is ${JSON.stringify(accountingTimeZone)}; set a name such as "Asia/Tehran"`,
    )
  }
  if (!(Number(waitSeconds) >= 0 && Number(waitSeconds) <= MAX_WAIT)) {
    throw new Error(
      `Cannot deploy: waitSeconds is ${JSON.stringify(waitSeconds)}; set a number from 0 to ${MAX_WAIT}`,
    )
  }
  isGradual(shift)
  if (!/^orders(?:-[\w.-]{1,100})?$/.test(ordersTable)) {
    throw new Error(
      `Cannot deploy: ordersTable is ${JSON.stringify(ordersTable)}; set "orders", or a name such as "orders-2" after a restore`,
    )
  }
  if (domain !== '' && certificateArn === '') {
    throw new Error(
      `Cannot deploy: domain is ${JSON.stringify(domain)} without a certificate; set certificateArn to one of ` +
        'Certificate Manager in the region of the stack',
    )
  }
  assertPublicFeeds(stores)
}
