import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { followAddress, route } from '../../web/route.ts'
import { type Item, Shell } from '../../web/shell.tsx'
import { listen, useSources } from '../../web/sources.ts'
import { sumsOf } from './api.ts'
import { Customers } from './customers.tsx'
import { ActiveFaults, Testing } from './faults.tsx'
import { Order } from './order.tsx'
import { Orders } from './orders.tsx'
import { t } from './persian.ts'
import { Products } from './products.tsx'
import { SettingsPage, unsavedSettings } from './settings.tsx'
import { Webhooks } from './webhooks.tsx'
import './panel.css'

/** The pages by the first part of their address, each with its icon, an SVG path in 24 by 24. */
const PAGES = {
  orders: [Orders, t('Orders'), 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5M9.5 12h5'],
  products: [Products, t('Products'), 'M4 7.5 12 3l8 4.5v9L12 21l-8-4.5zM4 7.5l8 4.5 8-4.5M12 12v9'],
  customers: [
    ...[Customers, t('Customers')],
    'M12 4a4 4 0 1 0 0 8 4 4 0 1 0 0-8M4.5 20c1-3.7 4-5.5 7.5-5.5s6.5 1.8 7.5 5.5',
  ],
  webhooks: [Webhooks, t('Webhooks'), 'M20.5 3.5 3.5 10l7 3.5 3.5 7zM20.5 3.5l-10 10'],
  settings: [
    ...[SettingsPage, t('Settings')],
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 1 0 0 4 2 2 0 1 0 0-4M9 15a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  ],
  testing: [
    Testing,
    t('Testing'),
    'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3M7.5 15h9',
  ],
} as const

const isPage = (name: string): name is keyof typeof PAGES => Object.hasOwn(PAGES, name)

const Panel = () => {
  const { path } = route.value
  const [first = '', second = ''] = path
  const current = isPage(first) ? first : 'orders'
  const Page = current === 'orders' && second !== '' ? Order : PAGES[current][0]
  const { data } = useSources({ all: sumsOf() })
  const waiting = data?.all.counts.needs_review ?? 0
  const isUnsaved = Object.keys(unsavedSettings.value).length > 0
  useEffect(() => {
    const warn = (event: Event) => event.preventDefault()
    if (isUnsaved) window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isUnsaved])
  const badges: Partial<Record<string, Item['badge']>> = {
    orders: waiting > 0 && [waiting, t('need review')],
    settings: isUnsaved && ['•', t('unsaved changes')],
  }
  const items: Item[] = [
    ...Object.entries(PAGES).map(([name, [, label, icon]]) => ({
      ...{ href: `#/${name}`, label, icon, badge: badges[name] ?? false },
    })),
    { href: '/docs', label: t('API reference'), icon: 'M5 4h14v16H5zM9 8h6M9 12h6M9 16h3' },
  ]
  const brand = (
    <>
      <img src="/panel/static/icon.svg" alt="" width="28" height="28" />
      <span>{t('Accounting {sandbox}', { sandbox: <span class="muted">{t('sandbox')}</span> })}</span>
    </>
  )
  return (
    <Shell title={t('Accounting {sandbox}', { sandbox: t('sandbox') })} {...{ brand, waiting, items }}>
      <ActiveFaults />
      <Page key={path.join('/')} route={route.value} />
    </Shell>
  )
}

followAddress()
listen('/panel/events')
render(<Panel />, document.body)
