import { QueueDoesNotExist } from '@aws-sdk/client-sqs'
import { QUEUES, storeName } from '@order-relay/lib/platform/names.ts'
import { queueNames, type Store } from '@order-relay/lib/platform/stores.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { DELIVERY_TTL_SECONDS } from '@order-relay/lib/webhook/deliveries.ts'
import * as v from 'valibot'
import { accessOf, accountingOf } from '../core/accounting.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { explain, Failure } from '../core/errors.ts'
import { URL_OPTION } from '../core/options.ts'
import { count, type Finding, findingsReport, judged, note, ok, problem, shellWord } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { progress } from '../core/terminal.ts'
import { isAccepted, ping } from '../core/webhook.ts'
import { registerCommandFor, registrationsOf, webhookUrlOf } from '../registration.ts'
import { INDEXED, storeKeysOf, storesWithSecret } from '../stores/credentials.ts'
import { windowFindings } from './windows.ts'

type Check = (context: Context, webhookUrl: string) => Promise<Finding[]>

const redrive = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ maxReceiveCount: v.pipe(v.unknown(), v.transform(Number)) }),
)

const settings: Check = async context => {
  const [{ attributes: queue }, { attributes: dead }, { functions }] = await Promise.all([
    depthOf(context, QUEUES.orders),
    depthOf(context, QUEUES.ordersDead),
    context.stack(),
  ])
  const policy = v.safeParse(redrive, queue.RedrivePolicy)
  return windowFindings({
    deliveryTtl: DELIVERY_TTL_SECONDS,
    deadRetention: Number(dead.MessageRetentionPeriod),
    queueRetention: Number(queue.MessageRetentionPeriod),
    queueVisibility: Number(queue.VisibilityTimeout),
    maxReceives: policy.success ? policy.output.maxReceiveCount : undefined,
    webhookTimeout: functions.webhook?.timeout ?? 0,
    workerTimeout: functions.worker?.timeout ?? 0,
  })
}

const webhook: Check = async (context, url) => {
  const { ofUrl, others } = await registrationsOf(context, url)
  const newest = ofUrl.at(-1)
  if (newest === undefined) {
    const remedy = registerCommandFor(context, url)
    return [problem('the webhook is registered', `no secret is stored for ${url}`, remedy)]
  }

  const { id, secret, since } = newest
  const accepted = 'the relay accepts webhooks signed with its secret'
  const response = await ping(url, secret)
  const findings = [ok('the webhook is registered', `${url}, since ${since.toISOString()}`)]
  if (isAccepted(response)) findings.push(ok(accepted, `${url} accepts ${id}`))
  else if (response.status === 401) {
    const remedy =
      'try again in a minute, when the relay has read new secrets; otherwise check its clock and that the URL is its own'
    findings.push(problem(accepted, `${url} refuses ${id}`, remedy))
  } else {
    const found = `${url} answers ${response.status} to a signed ping`
    findings.push(problem(accepted, found, `see the log: relay tail${context.flags}`))
  }
  if (ofUrl.length > 1) {
    const found = `${ofUrl.length} are: a rotation is not finished`
    findings.push(note('one secret is in use', found, `relay rotate${context.flags}`))
  }
  if (others.length > 0) {
    const found = `accepted, but not of ${url}: ${others.join(', ')}`
    const remedy = `if they belong to an earlier URL: relay unregister --url <that URL>${context.flags}`
    findings.push(note('no other secret is accepted', found, remedy))
  }
  return findings
}

const access = async (context: Context): Promise<Finding> => {
  const check = 'the accounting service accepts the API key'
  const { accountingUrl } = await context.stack()
  const remedy = `set a key with the scope orders.write: relay key set${context.flags}`
  try {
    const found = await accessOf(await accountingOf(context))
    if (found === 'granted') return ok(check, accountingUrl)
    if ('refused' in found) return problem(check, `${accountingUrl} answers ${found.refused}`, remedy)
    const whileDown = 'check that it is up; events wait until then'
    return problem(check, `${accountingUrl}: ${found.unavailable}`, whileDown)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return problem(check, 'no key is stored', remedy)
  }
}

/** How far the clock of a server is ahead of ours, in seconds; undefined when its responses have no date. */
const clockOffset = async (url: string): Promise<number | undefined> => {
  try {
    const before = Date.now()
    const signal = AbortSignal.timeout(10_000)
    const { headers } = await fetch(url, { method: 'HEAD', redirect: 'manual', signal })
    const middle = (before + Date.now()) / 2
    const date = new Date(headers.get('date') ?? Number.NaN).getTime()
    // The header omits the fraction of a second.
    return Number.isNaN(date) ? undefined : (date + 500 - middle) / 1000
  } catch {
    return undefined
  }
}

/** More than the rounding of the header and network latency can explain. */
const NOTABLE_SECONDS = 30

const clocks = async (context: Context, webhookUrl: string): Promise<Finding> => {
  const check = 'the clocks of the service and the relay agree'
  const { accountingUrl } = await context.stack()
  const [service, relay] = await Promise.all([clockOffset(accountingUrl), clockOffset(webhookUrl)])
  if (service === undefined || relay === undefined)
    return note(check, `${service === undefined ? accountingUrl : webhookUrl} does not answer with a date`)
  const apart = Math.round(Math.abs(service - relay))
  const found = `${apart} s apart; the tolerance is ${TOLERANCE_SECONDS} s`
  const remedy = 'correct the clock of the accounting service'
  if (apart >= TOLERANCE_SECONDS) return problem(check, found, `${remedy}: all its webhooks are refused`)
  return apart > NOTABLE_SECONDS ? note(check, found, remedy) : ok(check, found)
}

const service: Check = (context, webhookUrl) => Promise.all([access(context), clocks(context, webhookUrl)])

const queues: Check = async context => {
  const { flags } = context
  const isEmpty = async (check: string, names: readonly string[], remedy: string): Promise<Finding> => {
    let all = 0
    for (const name of names) all += (await depthOf(context, name)).all
    return all === 0 ? ok(check, 'none') : problem(check, count(all, 'message'), remedy)
  }
  const { all, inFlight } = await depthOf(context, QUEUES.orders)
  const { all: bulk } = await depthOf(context, QUEUES.bulk)
  const [drained, imports] = ['the order queue is processed', 'no store imports orders']
  const waiting = `${count(all, 'message')}, ${inFlight} of them in progress or waiting for a retry`
  const why = `relay tail --since 30m --errors${flags} shows why they wait`
  const replay = `see relay dead list${flags}, fix the cause, then relay dead replay --all${flags}`
  const reread = `see relay quarantine list${flags}; once a new version can read it, relay quarantine replay --all${flags}`
  return [
    all === 0 ? ok(drained, 'no messages wait') : note(drained, waiting, why),
    bulk === 0
      ? ok(imports, 'the bulk queue is empty')
      : note(imports, `${count(bulk, 'message')} in the bulk queue`, `relay imports${flags}`),
    await isEmpty('dead letters', [QUEUES.ordersDead, QUEUES.feedsDead], replay),
    await isEmpty('quarantine', [QUEUES.quarantine], reread),
  ]
}

const feed = async (context: Context, store: Store, hasSecret: boolean): Promise<Finding> => {
  const { source, feed: kind } = store
  const check = `the feed of "${source}"`
  const isHttp = kind !== 'sqs'
  if (isHttp && !hasSecret) {
    const remedy = `relay stores secret ${shellWord(source)}${context.flags}`
    return problem(check, 'it has no signing secret', remedy)
  }
  try {
    const [name = '', deadLetters] = queueNames(store)
    const { all } = await depthOf(context, name)
    const dead = deadLetters === undefined ? 0 : (await depthOf(context, deadLetters)).all
    if (dead > 0) {
      const command = `relay dead list --source ${shellWord(source)}${context.flags}`
      return problem(check, `${count(dead, 'dead letter')} that its consumer could not handle`, command)
    }
    if (all === 0) return ok(check, 'no messages wait')
    const remedy = isHttp
      ? `relay tail --since 30m --errors --source ${shellWord(source)}${context.flags} shows what its endpoint answers`
      : 'check that the store reads its queue'
    return note(check, `${count(all, 'message')} not received yet`, remedy)
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error
    const remedy = context.local ? 'restart npm start' : 'deploy the stores.yml of this checkout'
    return problem(check, 'its queue does not exist', remedy)
  }
}

const stores: Check = async context => {
  const secrets = await storesWithSecret(context)
  const withKeys = new Set((await storeKeysOf(context)).map(({ store }) => store))
  const known = context.stores()
  const findings: Finding[] = []
  for (const store of known) {
    const { source } = store
    findings.push(await feed(context, store, secrets.has(storeName(source))))
    if (withKeys.has(storeName(source))) continue
    const remedy = `relay stores key ${shellWord(source)}${context.flags}`
    findings.push(note(`the key of "${source}"`, 'it has none, so it cannot use the API', remedy))
  }
  const indexes = await Promise.all(INDEXED.map(folder => context.parameters.index(folder)))
  // Without any, the functions read the parameters themselves.
  if (indexes.some(({ exists, stale }) => exists && stale.length > 0)) {
    const remedy = `relay stores index${context.flags}`
    findings.push(problem('the index of keys and secrets', 'it differs from them', remedy))
  }
  for (const name of withKeys) {
    if (known.some(({ source }) => storeName(source) === name)) continue
    const remedy = `relay stores list${context.flags}`
    findings.push(note(`the keys of "${name}"`, 'stored, but the store is not in stores.yml', remedy))
  }
  return findings
}

const alarms = async ({ aws }: Context, TopicArn: string): Promise<Finding> => {
  const check = 'alarms reach somebody'
  const { Attributes = {} } = await (await aws.sns()).getTopicAttributes({ TopicArn })
  const { SubscriptionsConfirmed, SubscriptionsPending } = Attributes
  const [confirmed, pending] = [Number(SubscriptionsConfirmed), Number(SubscriptionsPending)]
  if (confirmed) return ok(check, `${count(confirmed, 'subscription')} of ${TopicArn}`)
  const remedy = 'deploy with ALARM_EMAIL, or subscribe to the topic'
  return pending
    ? note(check, 'the subscription is not confirmed', 'open the link in the e-mail from AWS')
    : note(check, `nobody is subscribed to ${TopicArn}`, remedy)
}

/** Concurrency for the scheduled check, and for each endpoint without reserved concurrency. */
const OTHER_EXECUTIONS = { scheduled: 1, endpoints: 2 }

const executions = async ({ lambda, stack }: Context, reserved: number): Promise<Finding> => {
  const check = "the account's Lambda concurrency suffices"
  const { functions } = await stack()
  let reading = 0
  for (const FunctionName of ['worker', 'feeder'].flatMap(key => functions[key]?.target ?? [])) {
    const pages = lambda.paginateListEventSourceMappings({ FunctionName })
    for await (const { EventSourceMappings = [] } of pages)
      for (const { ScalingConfig } of EventSourceMappings) reading += ScalingConfig?.MaximumConcurrency ?? 0
  }
  const { AccountLimit = {} } = await lambda.getAccountSettings({})
  const { ConcurrentExecutions: quota = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit
  const needed = reading + OTHER_EXECUTIONS.scheduled + (reserved > 0 ? 0 : OTHER_EXECUTIONS.endpoints)
  const found = `quota ${quota}, ${unreserved} of them unreserved; queues use up to ${reading}, ${reserved} are reserved for the endpoints`
  const remedy = 'request a higher quota, or lower workerConcurrency: docs/operate.md, Quotas'
  return judged(check, unreserved >= needed, found, remedy)
}

const account: Check = async context => {
  const { aws } = await context.stack()
  if (aws === undefined) return []
  return [await alarms(context, aws.alarmTopic), await executions(context, aws.reserved)]
}

/** The checks by topic. */
export const CHECKS: Readonly<Record<string, Check>> = { settings, webhook, service, queues, stores, account }

/** The findings of each topic, as they become available. */
export async function* diagnose(context: Context, given?: string): AsyncGenerator<Finding[]> {
  const url = await webhookUrlOf(context, given)
  // Fails once if there is no relay at all, instead of in every check.
  await context.queueUrl(QUEUES.orders)
  for (const [topic, check] of Object.entries(CHECKS)) {
    yield await check(context, url).catch(error => [
      problem(`check ${topic}`, explain(error, context).message, 'fix this and run the command again'),
    ])
  }
}

const doctor = async (context: Context, options: { url?: string | undefined }) => {
  using shown = progress(context.terminal, 'Checking', Object.keys(CHECKS).length)
  const findings: Finding[] = []
  for await (const found of diagnose(context, options.url)) {
    findings.push(...found)
    shown.advance()
  }
  return findingsReport(findings, context.title)
}

/** `relay doctor`: finds problems and explains how to fix them. */
export const doctorCommand = ({ program, run }: Cli): void => {
  program
    .command('doctor')
    .description(
      'Check settings, secrets, the accounting service, queues and stores, and explain how to fix each problem. The exit code is 1 if there is a problem.',
    )
    .addOption(URL_OPTION)
    .action(run(doctor))
}
