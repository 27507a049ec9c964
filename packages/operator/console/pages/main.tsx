import { messageOf, type Refusal } from '@order-relay/web/http.ts'
import { connection, useResources } from '@order-relay/web/resources.ts'
import { type Pages, Shell, start } from '@order-relay/web/shell.tsx'
import { activeAlarms } from '../../status/active.ts'
import { toneOf } from './alarms.tsx'
import { OVERVIEW } from './api.ts'
import { Audit } from './audit.tsx'
import { Messages } from './dead-letters.tsx'
import { Deliveries, Delivery } from './deliveries.tsx'
import { Feed, Feeds } from './feeds.tsx'
import { Log } from './log.tsx'
import { Order } from './order.tsx'
import { Orders } from './orders.tsx'
import { Overview } from './overview.tsx'
import { t } from './persian.ts'
import { deadOfFeeds } from './pieces.tsx'
import { Runbook } from './runbook.tsx'
import { Search } from './search.tsx'
import { openSession } from './session.ts'
import { Setup } from './setup.tsx'
import { Tests } from './setup-tests.tsx'
import { Store, Stores } from './stores.tsx'
import { Tour } from './tour.tsx'
import './console.css'

const PAGES: Pages = {
  overview: { Page: Overview, label: t('Overview'), icon: 'M3 12h4l3-8 4 16 3-8h4' },
  orders: {
    Page: Orders,
    Detail: Order,
    label: t('Orders'),
    icon: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  },
  deliveries: {
    Page: Deliveries,
    Detail: Delivery,
    label: t('Deliveries'),
    icon: 'M4 13v6h16v-6M12 3v11M8 10l4 4 4-4',
  },
  feeds: {
    Page: Feeds,
    Detail: Feed,
    label: t('Messages'),
    icon: 'M20 13V7H4v6M12 21V10M8 14l4-4 4 4',
  },
  stores: {
    Page: Stores,
    Detail: Store,
    label: t('Stores'),
    icon: 'M4 9.5 5.5 4h13L20 9.5M4 9.5V20h16V9.5M4 9.5h16M9 20v-6h6v6',
  },
  audit: {
    Page: Audit,
    label: t('Audit'),
    icon: 'M12 4v16M6 20h12M5 7h14M5 7l-2.5 6h5zM19 7l-2.5 6h5z',
  },
  log: { Page: Log, label: t('Log'), icon: 'M4 5h16M4 10h10M4 15h16M4 20h7' },
  setup: {
    Page: Setup,
    Detail: Tests,
    label: t('Setup'),
    icon: 'M9 11.5l2.5 2.5L20 5.5M20 12v7H5V5h9',
  },
  dead: { Page: Messages, label: t('Dead letters'), icon: 'M3 5h18v14H3zM3 6l9 7 9-7M9 16l6 0' },
  quarantine: { Page: Messages, label: t('Quarantine'), icon: 'M12 3l9 16H3zM12 9v5M12 16.5v.5' },
  runbook: { Page: Runbook },
  tour: { Page: Tour },
}

const Console = ({ refused }: { refused: Refusal | undefined }) => {
  const { data } = useResources({ overview: OVERVIEW })
  const { alarms = [], stage = '', queues } = data?.overview ?? {}
  const [worst, ...others] = activeAlarms(alarms)
  const active = worst === undefined ? 0 : 1 + others.length
  const waiting = (...depths: ({ waiting: number } | undefined)[]) => {
    const count = depths.reduce((sum, depth) => sum + (depth?.waiting ?? 0), 0)
    return count > 0 && ([count, t('waiting')] as const)
  }
  const badges = {
    dead: waiting(queues?.ordersDead, ...(queues ? deadOfFeeds(queues) : [])),
    quarantine: waiting(queues?.quarantine),
    overview:
      worst !== undefined &&
      ([active, t('{count|alarm is|alarms are} active', { count: active }), toneOf(worst)] as const),
  }
  const brand = (
    <>
      <img src="/icon.svg" alt="" width="28" height="28" />
      <span>
        order-relay <span class="muted">{stage}</span>
      </span>
    </>
  )
  return (
    <Shell title="order-relay" waiting={active} pages={PAGES} brand={brand} badges={badges}>
      {refused && (
        <p class="error" role="alert">
          {t('Cannot sign in: {reason}', { reason: messageOf(refused) })}
        </p>
      )}
      {connection.value === 'ended' && (
        <p class="error" role="alert">
          {t('Signed out: open the last address that npm start or relay console printed.')}
        </p>
      )}
      <Search />
    </Shell>
  )
}

start(<Console refused={await openSession()} />, '/api/events')
