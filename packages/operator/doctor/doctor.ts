import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { DELIVERY_TTL_SECONDS } from '@order-relay/lib/webhook/deliveries.ts'
import * as v from 'valibot'
import type { Period } from '../audit/repairs.ts'
import { accessOf, accountingOf } from '../core/accounting.ts'
import type { Coded } from '../core/coded.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { explain, Failure } from '../core/errors.ts'
import { type Finding, type FindingCode, messagesOf, say } from '../core/findings.ts'
import { URL_OPTION } from '../core/options.ts'
import { findingsReport, note, ok, problem } from '../core/output.ts'
import { depthOf, queuesOf, totalOf } from '../core/queue.ts'
import { progress } from '../core/terminal.ts'
import { ACCEPTED_WITHIN_MS, isAccepted, ping } from '../core/webhook.ts'
import { registerAgainCommandFor, registrationsOf, webhookUrlOf } from '../registration.ts'
import { keptSecrets } from '../secret-in-use.ts'
import { ignoredNotices } from '../status/ignored.ts'
import { signaturesOf, storesNotices, unregisteredFinding } from '../status/notices.ts'
import { removedNotices } from '../stores/removed.ts'
import { account } from './account.ts'
import { drill } from './drill.ts'
import { shops } from './shops.ts'
import { stores } from './stores.ts'
import { windowFindings } from './windows.ts'

/** Without an end, it is running. */
type Change = { end?: { at: Date } }

/**
 * @param audited the period of an audit that has shown that no order lags
 * @param change the console's last change of the registration
 */
type Check = (context: Context, webhookUrl: string, audited?: Period, change?: Change) => Promise<Finding[]>

const redrive = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ maxReceiveCount: v.pipe(v.unknown(), v.transform(Number)) }),
)

const settings: Check = async context => {
  const [{ attributes: queue }, { attributes: bulk }, { attributes: dead }, { functions }] =
    await Promise.all([
      depthOf(context, QUEUES.orders),
      depthOf(context, QUEUES.bulk),
      depthOf(context, QUEUES.ordersDead),
      context.stack(),
    ])
  const receivesOf = ({ RedrivePolicy }: typeof queue) => {
    const policy = v.safeParse(redrive, RedrivePolicy)
    return policy.success ? policy.output.maxReceiveCount : undefined
  }
  return windowFindings({
    deliveryTtl: DELIVERY_TTL_SECONDS,
    deadRetention: Number(dead.MessageRetentionPeriod),
    queueRetention: Number(queue.MessageRetentionPeriod),
    queueVisibility: Number(queue.VisibilityTimeout),
    maxReceives: { [QUEUES.orders]: receivesOf(queue), [QUEUES.bulk]: receivesOf(bulk) },
    webhookTimeout: functions.webhook?.timeout ?? 0,
    workerTimeout: functions.worker?.timeout ?? 0,
  })
}

/** The response to a request, and how far the server's clock is ahead of ours, in seconds; undefined without a date. */
const timed = async <Response extends { date: string | null }>(request: () => Promise<Response>) => {
  const before = Date.now()
  const response = await request()
  const middle = (before + Date.now()) / 2
  const date = new Date(response.date ?? Number.NaN).getTime()
  // The header omits the fraction of a second.
  return { response, offset: Number.isNaN(date) ? undefined : (date + 500 - middle) / 1000 }
}

const offsetOf = async (url: string): Promise<number | undefined> => {
  const head = async () => {
    const signal = AbortSignal.timeout(10_000)
    const { headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal })
    return { date: headers.get('date') }
  }
  return timed(head).then(
    ({ offset }) => offset,
    () => undefined,
  )
}

/** More than the rounding of the header and network latency can explain. */
const NOTABLE_SECONDS = 30

/** @param relay the offset of the relay's clock */
const clocks = async (context: Context, webhookUrl: string, relay: number | undefined): Promise<Finding> => {
  const { accountingUrl } = await context.stack()
  const service = await offsetOf(accountingUrl)
  if (service === undefined || relay === undefined)
    return note(
      say('clocks-unknown'),
      say('no-date', { url: service === undefined ? accountingUrl : webhookUrl }),
    )
  const apart = Math.round(Math.abs(service - relay))
  const found = say('clock-difference', { count: apart, most: TOLERANCE_SECONDS })
  const differ = say('clocks-differ')
  if (apart >= TOLERANCE_SECONDS) return problem(differ, found, say('correct-clock-refused'))
  if (apart > NOTABLE_SECONDS) return note(differ, found, say('correct-clock'))
  return ok(say('clocks-agree'), found)
}

const webhook: Check = async (context, url, audited, change) => {
  const { ofUrl, others } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest === undefined) {
    return [unregisteredFinding(context, url), await clocks(context, url, await offsetOf(url))]
  }

  const { id, secret, since } = newest
  const previous = ofUrl.at(-2)?.secret
  // The webhook function has up to a minute to read it, and the command that stored it waits for that.
  const isFresh = Date.now() < since.getTime() + ACCEPTED_WITHIN_MS
  // The log marks a ping as one, but would show a HEAD request as a store's.
  const { response, offset } = await timed(() => ping(url, secret, previous))
  const { notices: findings } = await signaturesOf(context, audited, url)
  // The service may have forgotten the registration that the relay remembers.
  if (findings.every(({ level }) => level !== 'problem'))
    findings.push(ok(say('webhook-registered'), say('registered-since', { url, time: since.toISOString() })))
  if (isAccepted(response)) findings.push(ok(say('secret-accepted'), say('accepts', { url, id })))
  else if (response.status === 401 || (previous !== undefined && response.status === 503)) {
    const found = [say('secret-refused'), say('refuses', { url, id }), say('wait-for-secret')] as const
    findings.push(isFresh ? note(...found) : problem(...found))
  } else {
    const found = say('answers-ping', { url, status: response.status })
    findings.push(
      problem(say('ping-failed'), found, say('see-log', { command: `relay tail${context.flags}` })),
    )
  }
  if (ofUrl.length > 1) {
    const count = ofUrl.length
    const check = say('secrets-stored', { count })
    const until = new Date(since.getTime() + TOLERANCE_SECONDS * 1000)
    const found =
      until > new Date() ? say('old-secret-used', { time: until.toISOString() }) : say('old-secret-unused')
    const remedy = say('retire-secret', { command: `relay rotate${context.flags}` })
    const replaced = say('secret-replaced', { time: since.toISOString() })
    const ended = change?.end?.at
    const isReplacing = isFresh && !(ended !== undefined && ended > since)
    const kept = await keptSecrets(context, ofUrl, registerAgainCommandFor(context, url))
    findings.push(
      change !== undefined && ended === undefined
        ? note(check, say('secret-replacing', { time: since.toISOString() }))
        : note(check, kept?.found ?? (isReplacing ? replaced : found), kept?.remedy ?? remedy),
    )
  }
  if (others.length > 0) {
    const found = say('other-secrets', { url, others: others.join(', ') })
    const command = `relay unregister --url <that URL>${context.flags}`
    findings.push(note(say('other-secret'), found, say('unregister-others', { command })))
  }
  findings.push(await clocks(context, url, offset))
  return findings
}

const access = async (context: Context): Promise<Finding> => {
  const { accountingUrl: url } = await context.stack()
  const remedy = say('set-key', { command: `relay key set${context.flags}` })
  try {
    const found = await accessOf(await accountingOf(context))
    if (found === 'granted') return ok(say('key-accepted'), url)
    const answer = say('service-answer', { url, reason: { foreign: found.message } })
    switch (found.code) {
      case 'unauthorized':
        return problem(say('key-not-accepted'), answer, remedy)
      case 'unavailable':
        return problem(say('service-down'), answer, say('check-service'))
      case 'throttled':
        return note(say('service-throttles'), answer, say('try-later'))
      default:
        return problem(say('service-fails'), answer, say('report-answer'))
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return problem(say('key-missing'), say('no-key'), remedy)
  }
}

const service: Check = async context => [await access(context)]

const queues: Check = async context => {
  const { flags } = context
  const { orders, bulk, ordersDead, feedsDead, quarantine, feeds } = await queuesOf(context)
  const isEmpty = (code: 'dead-letters' | 'quarantine', all: number, remedy: Coded<FindingCode>): Finding =>
    all === 0 ? ok(say(code), say('none')) : problem(say(code), messagesOf(all), remedy)
  const [all, imported] = [totalOf(orders), totalOf(bulk)]
  const dead = totalOf(ordersDead, feedsDead, ...feeds.map(feed => feed.dead))
  const waiting = say('in-progress', { messages: messagesOf(all), count: orders.inFlight })
  const why = say('why-they-wait', { command: `relay tail --since 30m --errors${flags}` })
  const commandsOf = (name: string) => ({
    list: `relay ${name} list${flags}`,
    replay: `relay ${name} replay --all${flags}`,
  })
  return [
    all === 0 ? ok(say('queue-processed'), say('no-messages')) : note(say('queue-waits'), waiting, why),
    imported === 0
      ? ok(say('no-imports'), say('bulk-empty'))
      : note(say('imports'), say('in-bulk', { messages: messagesOf(imported) }), `relay imports${flags}`),
    isEmpty('dead-letters', dead, say('see-dead', commandsOf('dead'))),
    isEmpty(
      'quarantine',
      totalOf(quarantine),
      say('see-quarantine', {
        ...commandsOf('quarantine'),
        discard: `relay quarantine discard --all${flags}`,
      }),
    ),
  ]
}

const everyStore: Check = async (context, _, audited) => [
  ...storesNotices(context),
  ...(await stores(context)),
  ...(await removedNotices(context)),
  ...(await ignoredNotices(context, audited)),
]

/** The checks by topic. */
export const CHECKS: Readonly<Record<string, Check>> = {
  settings,
  webhook,
  service,
  queues,
  stores: everyStore,
  shops,
  account,
}

/** The findings of each topic, as they become available. */
export async function* diagnose(
  context: Context,
  given?: string,
  audited?: Period,
  change?: Change,
): AsyncGenerator<Finding[]> {
  const url = await webhookUrlOf(context, given)
  // Fails once if there is no relay at all, instead of in every check.
  await context.queueUrl(QUEUES.orders)
  for (const [topic, check] of Object.entries(CHECKS)) {
    yield await check(context, url, audited, change).catch(error => [
      problem(say('not-checked', { topic }), explain(error, context).message, say('fix-and-repeat')),
    ])
  }
}

const doctor = async (context: Context, options: { url?: string | undefined; drill?: true }) => {
  const drilled = options.drill ? await drill(context) : []
  using shown = progress(context.terminal, 'Checking', Object.keys(CHECKS).length)
  const findings: Finding[] = []
  for await (const found of diagnose(context, options.url)) {
    findings.push(...found)
    shown.advance()
  }
  return findingsReport([...findings, ...drilled], context.title)
}

/** `relay doctor`: finds problems and explains how to fix them. */
export const doctorCommand = ({ program, run }: Cli): void => {
  program
    .command('doctor')
    .description(
      'Check settings, secrets, the accounting service, queues and stores, and explain how to fix each problem. The exit code is 1 if there is a problem.',
    )
    .addOption(URL_OPTION)
    .option(
      '--drill',
      'also raise each alarm briefly, which sends its recipients two messages, and show whether the topic was notified; stops a gradual deployment in progress',
    )
    .action(run(doctor))
}
