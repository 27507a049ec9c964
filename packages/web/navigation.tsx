import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { decimal } from './format.ts'
import { listed } from './language.ts'
import { t } from './persian.ts'
import type { Tone } from './pieces.tsx'

/** A badge: a count or a symbol, with its meaning. @param tone default: `wait` */
export type Badge = false | readonly [text: string | number, meaning: string, tone?: Tone]

export type Item = {
  href: string
  label: string
  /** An SVG path in 24 by 24. */
  icon: string
  badge?: Badge | undefined
}

/** The number of pages in the bar of a phone; the others are behind a button. */
const ON_PHONE = 4

/** More digits do not fit in the navigation of a phone. */
const badgeText = (badge: string | number) =>
  typeof badge === 'string' ? badge : badge > 99 ? `${decimal(99)}+` : decimal(badge)

const Entry = ({ label, icon, badge }: Omit<Item, 'href'>) => (
  <>
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={icon} />
    </svg>
    <span>{label}</span>
    {badge && (
      <span class="badge" data-tone={badge[2] ?? 'wait'}>
        {badgeText(badge[0])}
        <span class="visually-hidden"> {badge[1]}</span>
      </span>
    )}
  </>
)

/** The combined badge of the pages behind the button. */
const badgeOf = (items: readonly Item[]): Badge => {
  const badges = items.flatMap(({ label, badge }) => (badge ? [{ label, text: badge[0] }] : []))
  const [first] = badges
  if (first === undefined) return false
  const count = badges.reduce((sum, { text }) => sum + (typeof text === 'number' ? text : 0), 0)
  return [count || first.text, listed(badges.map(({ label }) => label))]
}

/** The links to all pages: a sidebar, or a bar at the bottom of a phone. */
export const Navigation = ({ items, current }: { items: readonly Item[]; current: string }) => {
  const isOpen = useSignal(false)
  // Runs before the new page is visible: a later effect would close what the reader has opened since.
  useLayoutEffect(() => {
    isOpen.value = false
  }, [current])
  const rest = items.length > ON_PHONE + 1 ? items.slice(ON_PHONE) : []
  return (
    <nav class={isOpen.value ? 'nav open' : 'nav'} aria-label={t('Pages')}>
      <ul>
        {items.map(item => (
          <li key={item.href} class={rest.includes(item) ? 'rest' : undefined}>
            <a href={item.href} aria-current={item.href === current ? 'page' : undefined}>
              <Entry {...item} />
            </a>
          </li>
        ))}
        {rest.length > 0 && (
          <li class="more">
            <button
              type="button"
              aria-expanded={isOpen.value}
              data-current={rest.some(({ href }) => href === current)}
              onClick={() => {
                isOpen.value = !isOpen.value
              }}
            >
              <Entry
                label={isOpen.value ? t('Less') : t('More')}
                icon={isOpen.value ? 'M5 9l7 7 7-7' : 'M5 12h.01M12 12h.01M19 12h.01'}
                badge={!isOpen.value && badgeOf(rest)}
              />
            </button>
          </li>
        )}
      </ul>
    </nav>
  )
}
