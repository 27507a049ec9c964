import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import { queueNames } from '@order-relay/lib/platform/stores.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { cannot, explain } from '../core/errors.ts'
import { queuesOf } from '../core/queue.ts'
import { ROOT } from '../core/stack.ts'
import { importsReader } from '../imports.ts'
import { deadLettersOf } from '../orders/dead-letters.ts'
import { alarmMemory } from '../status/active.ts'
import { alarmsOf } from '../status/alarms.ts'
import { withBeginnings } from '../status/beginnings.ts'
import { failingOf, lastAnswered, newKeyOf, unavailableMemory } from '../status/failing.ts'
import { ignoredNotices } from '../status/ignored.ts'
import { seriesOf } from '../status/metrics.ts'
import {
  accountantNotices,
  deadNotices,
  expiryNotices,
  feedNotices,
  signaturesOf,
  storesNotices,
} from '../status/notices.ts'
import { agesOf, ratesOf } from '../status/status.ts'
import { unauthorizedNotices } from '../status/unauthorized.ts'
import { removedNotices } from '../stores/removed.ts'
import type { Audits } from './audit.ts'
import type { Live } from './live.ts'
import type { Readings } from './readings.ts'
import { get } from './route.ts'

/** Polling intervals, in milliseconds: CloudWatch has a new value every minute, and each request costs. */
const EVERY = {
  local: { queues: 1000, metrics: 2000, alarms: 1000, keys: 2000 },
  // Keys are reported days before they expire.
  aws: { queues: 10_000, metrics: 60_000, alarms: 30_000, keys: 600_000 },
}

/** Maximum number of queue depths read per second. */
const QUEUES_PER_SECOND = 20

export const overviewRoutes = (context: Context, live: Live, audits: Audits, readings: Readings) => {
  const every = EVERY[context.local ? 'local' : 'aws']
  const series = seriesOf(context)
  const depths = context.stores().flatMap(queueNames).length
  const everyQueues = Math.max(every.queues, (depths * 1000) / QUEUES_PER_SECOND)
  const queues = live.poll('queues', everyQueues, () => queuesOf(context))
  const rates = live.poll('rates', every.metrics, () => ratesOf(series))
  const imports = live.poll('imports', every.metrics, importsReader(context))
  const rememberedOutage = unavailableMemory()
  const failing = live.poll('failing', every.alarms, async () =>
    rememberedOutage(
      await failingOf(context, () => deadLettersOf(context, { read: () => readings.of('dead') })),
    ),
  )
  const newKey = live.poll('new-key', every.queues, async () => newKeyOf(context, await failing()))
  const answered = live.poll('answered', every.alarms, async () => lastAnswered(context, await failing()))
  const ages = live.poll('ages', every.metrics, async () => agesOf(context, await queues(), series))
  const remembered = alarmMemory()
  const alarms = live.poll('alarms', every.alarms, async () => {
    const states = remembered(await alarmsOf(context, await queues(), series), Date.now())
    return withBeginnings(context, states, async kind => (await readings.of(kind)).messages)
  })
  const signatures = live.poll('signatures', every.metrics, () => signaturesOf(context, audits.covered()))
  const ignored = live.poll('ignored', every.metrics, () => ignoredNotices(context, audits.covered()))
  const feeds = live.poll('failing-feeds', every.metrics, async () =>
    feedNotices(context, await queues(), () => readings.of('dead')),
  )
  const unauthorized = live.poll('unauthorized', every.metrics, () => unauthorizedNotices(context))
  const expiring = live.poll('expiring-keys', every.keys, () => expiryNotices(context))
  const stores = live.poll('stores-file', every.queues, async () => [
    ...storesNotices(context),
    ...(await removedNotices(context)),
  ])
  const accountant = live.poll('accountant', every.metrics, () => accountantNotices(context))
  return [
    get('overview', {}, async () => {
      const problems = new Set<string>()
      // Shows whatever can be read, even if other parts cannot.
      const readable = <Value>(value: Promise<Value>): Promise<Value | undefined> =>
        value.catch(error => {
          problems.add(explain(error, context).message)
          return undefined
        })
      const found = {
        queues: await readable(queues()),
        ages: await readable(ages()),
        rates: await readable(rates()),
        imports: await readable(imports()),
        failing: await readable(failing()),
        newKey: await readable(newKey()),
        answered: await readable(answered()),
        alarms: (await readable(alarms())) ?? [],
        signatures: await readable(signatures()),
      }
      const notices = [
        await readable(stores()),
        found.failing && deadNotices(context, found.failing),
        found.signatures?.notices,
        await readable(ignored()),
        await readable(feeds()),
        await readable(unauthorized()),
        await readable(expiring()),
        await readable(accountant()),
      ]
      const { stage, local } = context
      const sources = context.stores().map(({ source }) => source)
      return {
        stage,
        local,
        sources,
        probe: sources.find(source => source === PROBE_SOURCE),
        every: { ...every, queues: everyQueues },
        ...found,
        notices: notices.flatMap(each => each ?? []),
        problems: [...problems],
      }
    }),
    get(
      'runbook',
      { page: v.pipe(v.string(), v.regex(/^[\w-]+$/)), language: v.picklist(['en', 'fa']) },
      async ({ page, language }) => {
        const known = (await alarms()).some(alarm => alarm.page === page)
        if (!known) throw cannot('show the runbook', `there is no page "${page}"`)
        const folder = language === 'en' ? 'runbook' : `runbook-${language}`
        return { text: await readFile(join(ROOT, 'docs', folder, `${page}.md`), 'utf8') }
      },
    ),
  ]
}
