import { useResources } from '@order-relay/web/resources.ts'
import { type Pages, Shell, start } from '@order-relay/web/shell.tsx'
import { useEffect } from 'preact/hooks'
import type { PANEL_PAGES } from '../panel-pages.ts'
import { refusalsOf, sumsOf } from './api.ts'
import { Customers } from './customers.tsx'
import { Documents } from './documents.tsx'
import { ActiveFaults, Testing } from './faults.tsx'
import { Order } from './order.tsx'
import { Orders } from './orders.tsx'
import { t } from './persian.ts'
import { Products } from './products.tsx'
import { RefusedOrders } from './refused.tsx'
import { isUnsaved, SettingsPage } from './settings.tsx'
import { StockMoves } from './stock-moves.tsx'
import { Webhooks } from './webhooks.tsx'
import './panel.css'
import './paper.css'

const PAGES: Pages & Record<(typeof PANEL_PAGES)[number], unknown> = {
  orders: {
    Page: Orders,
    Detail: Order,
    label: t('Orders'),
    icon: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5M9.5 12h5',
  },
  documents: {
    Page: Documents,
    label: t('Documents'),
    icon: 'M3 6h18v12H3zM12 9a3 3 0 1 0 0 6 3 3 0 1 0 0-6M6 9h.01M18 15h.01',
  },
  refused: {
    Page: RefusedOrders,
    label: t('Refusals'),
    icon: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 1 0 0-17M6 6l12 12',
  },
  products: {
    Page: Products,
    Detail: StockMoves,
    label: t('Products'),
    icon: 'M4 7.5 12 3l8 4.5v9L12 21l-8-4.5zM4 7.5l8 4.5 8-4.5M12 12v9',
  },
  customers: {
    Page: Customers,
    label: t('Customers'),
    icon: 'M12 4a4 4 0 1 0 0 8 4 4 0 1 0 0-8M4.5 20c1-3.7 4-5.5 7.5-5.5s6.5 1.8 7.5 5.5',
  },
  webhooks: { Page: Webhooks, label: t('Webhooks'), icon: 'M20.5 3.5 3.5 10l7 3.5 3.5 7zM20.5 3.5l-10 10' },
  settings: {
    Page: SettingsPage,
    label: t('Settings'),
    icon: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 1 0 0 4 2 2 0 1 0 0-4M9 15a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  },
  testing: {
    Page: Testing,
    label: t('Testing'),
    icon: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3M7.5 15h9',
  },
}

const REFERENCE = { href: '/docs', label: t('API reference'), icon: 'M5 4h14v16H5zM9 8h6M9 12h6M9 16h3' }

const Panel = () => {
  const { data } = useResources({ all: sumsOf(), refused: refusalsOf({ limit: 1 }) })
  const waiting = data?.all.counts.needs_review ?? 0
  const refused = data?.refused.open ?? 0
  const hasChanges = isUnsaved()
  useEffect(() => {
    const warn = (event: Event) => event.preventDefault()
    if (hasChanges) window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [hasChanges])
  const badges = {
    orders: waiting > 0 && ([waiting, t('need review')] as const),
    refused: refused > 0 && ([refused, t('not registered')] as const),
    settings: hasChanges && (['•', t('unsaved changes')] as const),
  }
  const brand = (
    <>
      <img src="/panel/static/icon.svg" alt="" width="28" height="28" />
      <span>{t('Accounting {sandbox}', { sandbox: <span class="muted">{t('sandbox')}</span> })}</span>
    </>
  )
  const title = t('Accounting {sandbox}', { sandbox: t('sandbox') })
  return (
    <Shell pages={PAGES} links={[REFERENCE]} title={title} brand={brand} waiting={waiting} badges={badges}>
      <ActiveFaults />
    </Shell>
  )
}

start(<Panel />, '/panel/events')
