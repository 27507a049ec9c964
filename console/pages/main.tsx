import { render } from 'preact'
import { followAddress, route } from '../../web/route.ts'
import { type Item, Shell } from '../../web/shell.tsx'
import { listen, useSources } from '../../web/sources.ts'
import { OVERVIEW, Overview } from './overview.tsx'
import { Runbook } from './runbook.tsx'
import { t } from './words.ts'
import './console.css'

/**
 * The pages by the first part of their address. Those with an icon, an SVG path in 24 by 24, are in the navigation,
 * in this order.
 */
const PAGES = {
  overview: { Page: Overview, label: t('Overview'), icon: 'M3 12h4l3-8 4 16 3-8h4' },
  runbook: { Page: Runbook },
}

const isPage = (name: string): name is keyof typeof PAGES => Object.hasOwn(PAGES, name)

const Console = () => {
  const { path } = route.value
  const [first = ''] = path
  const current = isPage(first) ? first : 'overview'
  const { Page } = PAGES[current]
  const { data } = useSources({ overview: OVERVIEW })
  const { alarms = [], title = '' } = data?.overview ?? {}
  const active = alarms.filter(({ state }) => state === 'alarm').length
  const items = Object.entries(PAGES).flatMap(([name, about]): Item[] =>
    'icon' in about
      ? [
          {
            ...{ href: `#/${name}`, label: about.label, icon: about.icon },
            badge: name === 'overview' && active > 0 && [active, t('alarms are active')],
          },
        ]
      : [],
  )
  const brand = (
    <>
      <img src="/icon.svg" alt="" width="28" height="28" />
      <span>
        order-relay <span class="muted">{title}</span>
      </span>
    </>
  )
  return (
    <Shell title="order-relay" waiting={active} {...{ brand, items }}>
      <Page key={path.join('/')} route={route.value} />
    </Shell>
  )
}

followAddress()
listen('/api/events')
render(<Console />, document.body)
