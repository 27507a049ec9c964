import { MAX_WAIT } from '../lib/api/serve.ts'
import { nearest } from '../lib/api/warnings.ts'
import { RECORDED } from '../lib/feeds/attempts.ts'
import {
  type AllowedAddresses,
  assertAllowed,
  hostOf,
  isInternal,
  isLoopback,
} from '../lib/platform/addresses.ts'
import { DAY } from '../lib/platform/environment.ts'
import { httpStores } from '../lib/platform/http-stores.ts'
import type { Store } from '../lib/platform/stores.ts'
import { DELIVERY_TTL_SECONDS } from '../lib/webhook/deliveries.ts'
import { SHIFTS } from './shift.ts'

export type DeploymentSettings = {
  stage: string
  region: string
  backupRegion: string
  accountingUrl: string
  feedAddresses: string
  feedAttempts: string
  accountingTimeZone: string
  waitSeconds: number
  checksPerSecond: number
  storeRequestsPerSecond: number
  shift: string
  deleteOrdersAfterDays: number
  callerAddresses: string
  monthlyBudget: number
  alarmEmail: string
  ordersTable: string
  domain: string
  certificateArn: string
  permissionsBoundary: string
}

/** The problem of the accounting service's base URL, which receives the API key; undefined if valid. */
const problemOf = (accountingUrl: string): string | undefined => {
  if (accountingUrl === '') return 'is not set'
  const url = URL.parse(accountingUrl)
  // A password must not appear in the log of a deployment.
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

type Rule = [isRight: (value: string, settings: DeploymentSettings) => boolean, remedy: string]

/** What follows the stage in resource names of docs/iam and of the functions' policies, up to a wildcard. */
const CONTINUED = /-(?:(?:feed|orders|serverlessdeploymentbucket)-|webhook|api|worker|feeder|reconcile|probe)/

/** @throws if the wildcards in the policies of another stage would cover resources of this one */
const assertStage = (stage: string) => {
  if (!/^[a-z0-9-]+$/.test(stage))
    throw new Error(
      `Cannot package: the stage "${stage}" contains characters other than lower-case letters, digits and hyphens; ` +
        'choose another name',
    )
  const { 0: part, index } = CONTINUED.exec(`${stage}-`) ?? {}
  if (part !== undefined)
    throw new Error(
      `Cannot package: the stage "${stage}" contains "${part}", so the policies of the stage ` +
        `"${stage.slice(0, index)}" would cover its resources; choose another name`,
    )
}

const RULES: Readonly<Partial<Record<keyof DeploymentSettings, Rule>>> = {
  feedAddresses: [
    value => value === 'public' || value === 'private',
    '; set "public", or "private" for stores in your own network. Only the local stack may use "loopback"',
  ],
  feedAttempts: [value => RECORDED.some(each => each === value), '; set "all" or "failures"'],
  accountingTimeZone: [isTimeZone, '; set a name such as "Asia/Tehran"'],
  waitSeconds: [
    value => Number(value) >= 0 && Number(value) <= MAX_WAIT,
    `; set a number from 0 to ${MAX_WAIT}`,
  ],
  checksPerSecond: [value => Number(value) > 0, '; set a number above 0'],
  storeRequestsPerSecond: [value => Number(value) >= 0, '; set a number, or 0 for no limit'],
  ordersTable: [
    value => /^orders(?:-[\w.-]{1,100})?$/.test(value),
    '; set "orders", or a name such as "orders-2" after a restore',
  ],
  // A duplicate webhook must find its order, and the audit must find the order of every delivery.
  deleteOrdersAfterDays: [
    value => Number(value) === 0 || Number(value) * DAY > DELIVERY_TTL_SECONDS,
    `; set 0, or a number above ${DELIVERY_TTL_SECONDS / DAY}, for which deliveries are kept`,
  ],
  backupRegion: [
    (value, { region }) => value === '' || (/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(value) && value !== region),
    '; set a region other than that of the stack, such as "eu-west-1"',
  ],
  callerAddresses: [value => ['hidden', 'logged'].includes(value), '; set "hidden" or "logged"'],
  monthlyBudget: [
    (value, { alarmEmail }) => Number(value) === 0 || (Number(value) > 0 && alarmEmail !== ''),
    '; set 0, or a number of US dollars together with alarmEmail',
  ],
  shift: [value => SHIFTS.includes(value), `; set one of ${SHIFTS.join(', ')}`],
  permissionsBoundary: [
    value => value === '' || /^arn:[\w-]+:iam::(?:\d{12}|aws):policy\/\S+$/.test(value),
    '; set the ARN of a managed policy',
  ],
  domain: [
    (value, { certificateArn }) => value === '' || certificateArn !== '',
    ' without a certificate; set certificateArn to one of Certificate Manager in the region of the stack',
  ],
}

/**
 * Checks the addresses in the URLs of HTTP feeds; those that names resolve to are checked when they are called.
 *
 * @throws naming the store
 */
export const assertFeedsAllowed = (stores: readonly Store[], allowed: AllowedAddresses): void => {
  for (const { source, feed } of httpStores(stores)) {
    if (feed.http === undefined) continue
    const host = hostOf(new URL(feed.http))
    try {
      assertAllowed(host, allowed)
    } catch (cause) {
      const found = isLoopback(host)
        ? 'a loopback address, allowed only in the stage "local"; use the public address of the store'
        : 'not a public address; use the public address of the store, or set feedAddresses to "private" for one in ' +
          'your own network'
      throw new Error(
        `Cannot package: the HTTP feed of the store "${source}" is ${feed.http}, which is ${found}`,
        { cause },
      )
    }
  }
}

/**
 * Checks the parameters of a command line: osls ignores those that nothing reads.
 *
 * @param given such as `shift=none`
 * @throws naming the first one that is not known
 */
export const assertParameters = (given: readonly string[], known: readonly string[]) => {
  for (const each of given) {
    const [name = ''] = each.split('=')
    if (known.includes(name)) continue
    const meant = nearest(name, known)
    const remedy = meant === undefined ? 'check the name' : `did you mean "${meant}"?`
    throw new Error(`Cannot package: serverless.yml has no parameter "${name}"; ${remedy}`)
  }
}

/**
 * Checks that a deployment has no settings that are reserved for the local stack; the stage `local` is exempt.
 *
 * @throws with the value and the remedy
 */
export const assertDeployable = (settings: DeploymentSettings, stores: readonly Store[]) => {
  const { stage } = settings
  if (stage === 'local') return
  assertStage(stage)
  const problem = problemOf(settings.accountingUrl)
  if (problem !== undefined) {
    throw new Error(
      `Cannot package: the base URL of the accounting service ${problem}; set it, such as ` +
        'ACCOUNTING_URL=https://accounting.example or --param="accountingUrl=https://accounting.example"',
    )
  }
  for (const [name, [isRight, remedy]] of Object.entries(RULES)) {
    const value = String(settings[name as keyof typeof RULES])
    if (!isRight(value, settings))
      throw new Error(`Cannot package: ${name} is ${JSON.stringify(value)}${remedy}`)
  }
  assertFeedsAllowed(stores, settings.feedAddresses === 'private' ? 'private' : 'public')
}
