import { effect, signal } from '@preact/signals'
import { type ComponentChildren, createContext, render } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { closeDialog, Dialogs } from './dialog.tsx'
import { messageOf, Refusal } from './http.ts'
import { dash } from './language.ts'
import { type Badge, type Item, Navigation } from './navigation.tsx'
import { announcement, hideToast, shownToast } from './notices.ts'
import { t } from './persian.ts'
import { Button, Empty, Name, Title } from './pieces.tsx'
import { Preferences } from './preferences.tsx'
import { connection, type DataOf, listen, type Resources, refresh, useResources } from './resources.ts'
import { arrive, followAddress, linkTo, type Route, route } from './route.ts'

const pageTitle = signal('')

const CONNECTION = {
  connecting: [t('Connecting…'), undefined],
  live: [t('Live'), 'good'],
  broken: [t('Disconnected, trying again…'), 'bad'],
  ended: [t('Signed out'), 'bad'],
} as const

type View = (props: { route: Route }) => ComponentChildren

/** A page, and what a second part of its address shows. Those with a label and an icon are in the navigation. */
type About = { Page: View; Detail?: View; label?: string; icon?: Item['icon'] }

/** Pages by the first part of their address, in the order of the navigation. The empty address opens the first. */
export type Pages = Readonly<Record<string, About>>

const Items = createContext<readonly Item[]>([])

type ShellProps = {
  title: string
  brand: ComponentChildren
  /** The number of items that need attention, for the title of the browser's tab. */
  waiting: number
  pages: Pages
  /** Additional content of the navigation. */
  links?: readonly Item[]
  /** By the names of pages. */
  badges: Readonly<Record<string, Badge>>
  /** The header of every page. */
  children?: ComponentChildren
}

/** Moves focus to the heading if the focused element is removed; otherwise, focus would be lost. */
const useFocusGuard = () =>
  useEffect(() => {
    let focused: EventTarget | null = null
    const onFocus = ({ target }: FocusEvent) => {
      focused = target
    }
    const observer = new MutationObserver(() => {
      const isLost =
        focused instanceof Element && !focused.isConnected && document.activeElement === document.body
      focused = isLost ? null : focused
      if (isLost) document.querySelector('h1')?.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', onFocus)
    observer.observe(document.body, { childList: true, subtree: true })
  }, [])

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof Element && target.closest('input, select, textarea, dialog, [contenteditable]') !== null

/** Follows the keys of every page: `/` searches, and the arrows (or `j` and `k`) go through the rows of a list. */
const followKeys = () => {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
    if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('main input[type=search]')
      search?.select()
      search?.focus()
      if (search) event.preventDefault()
      return
    }
    const step = STEPS[event.key]
    if (step === undefined) return
    const rows = [...document.querySelectorAll<HTMLElement>('main .row-link')]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    // Arrows scroll until a row has focus; the letters lead to the first one.
    if (at === -1 && event.key.startsWith('Arrow')) return
    const next = rows[at === -1 ? 0 : at + step]
    next?.focus()
    if (next) event.preventDefault()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

/** The frame of every page: brand, connection, navigation, notices and dialogs. */
export const Shell = ({ title, brand, waiting, pages, links = [], badges, children }: ShellProps) => {
  const main = useRef<HTMLElement>(null)
  const { hash, path } = route.value
  const [given = '', second = ''] = path
  const all = Object.entries(pages)
  const [name = '', about] = (given === '' ? all[0] : all.find(([each]) => each === given)) ?? []
  const Page = (second !== '' && about?.Detail) || (about?.Page ?? NoPage)
  const items = all.flatMap(([each, { icon, label = '' }]): Item[] =>
    icon === undefined ? [] : [{ href: linkTo([each]), label, icon, badge: badges[each] }],
  )
  useFocusGuard()
  useEffect(followKeys, [])
  useLayoutEffect(
    () =>
      effect(() => {
        document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${pageTitle.value}${dash}${title}`
      }),
    [waiting, title],
  )
  // Runs before the new page is visible: a later effect would close what the reader has opened since.
  useLayoutEffect(() => {
    hideToast()
    closeDialog()
  }, [hash])
  const skip = (event: Event) => {
    event.preventDefault()
    main.current?.focus()
  }
  const [state, tone] = CONNECTION[connection.value]
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a link for the keyboard, whose address is not a page of ours. */}
      <a class="skip-link button primary" id="skip" href="#main" onClick={skip}>
        {t('Skip to content')}
      </a>
      <header class="top">
        <a class="brand row" href="#/">
          {brand}
        </a>
        <p class="live small muted" role="status" data-tone={tone}>
          {state}
        </p>
        <Preferences />
      </header>
      <Navigation items={[...items, ...links]} current={linkTo([name])} />
      <p class="toast" role="status" data-tone={shownToast.value?.tone}>
        {shownToast.value?.text}
      </p>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
        <Items.Provider value={items}>
          <Page key={path.join('/')} route={route.value} />
        </Items.Provider>
      </main>
      <p class="visually-hidden" id="announcer" aria-live="polite">
        {announcement.value}
      </p>
      <Dialogs />
    </>
  )
}

/** Shows pages, which follow their address and the changes reported by a stream. */
export const start = (shown: ComponentChildren, stream: string) => {
  followAddress()
  listen(stream)
  render(shown, document.body)
}

/** Leads from a detail to its page in the navigation, or to the first one. */
const Back = () => {
  const pages = useContext(Items)
  const { path } = route.value
  const page = pages.find(({ href }) => href === `#/${path[0]}`) ?? pages[0]
  return (
    path.length > 1 &&
    page && (
      <a class="back small" href={page.href}>
        <span class="arrow">←</span> {page.label}
      </a>
    )
  )
}

type HeadProps = {
  /** @default the title of the page */
  title?: string
  kind?: string
  children?: ComponentChildren
}

/** The heading of a page, with its buttons. */
export const PageHead = ({ title, kind = '', children }: HeadProps) => {
  const titleOfPage = useContext(Title)
  return (
    <header class={`page-head ${kind}`}>
      <Back />
      <div class="row spread">
        <h1 tabIndex={-1}>
          <Name>{title ?? titleOfPage}</Name>
        </h1>
        {children}
      </div>
    </header>
  )
}

type Spec<S extends Resources> = {
  title: (route: Route) => string
  reads: (route: Route) => S
  /** The announcement to screen readers when the data changes while the page is open. */
  announce?: (before: DataOf<S>, after: DataOf<S>) => string | undefined
}

/** A page: shows its data or why they cannot be read, and follows their changes. */
export const page =
  <S extends Resources>(spec: Spec<S>, View: (props: DataOf<S> & { route: Route }) => ComponentChildren) =>
  ({ route }: { route: Route }) => {
    const { data, fresh, error } = useResources(spec.reads(route))
    const title = spec.title(route)
    // While the connection is broken, the shown data stays.
    const failed =
      error !== undefined && !(data !== undefined && error instanceof Refusal && error.status === 0)
    const before = useRef<{ hash: string; data: DataOf<S> }>(undefined)
    useLayoutEffect(() => {
      pageTitle.value = title
      const main = document.querySelector('main')
      if (main !== null && (fresh || failed)) arrive(main)
    })
    // Cleared together with the page: a later effect would leave the announcement about the previous page for a moment.
    useLayoutEffect(() => {
      if (!fresh || data === undefined) return
      const last = before.current?.hash === route.hash ? before.current : undefined
      // Clears an announcement about the previous page.
      const text = last ? spec.announce?.(last.data, data) : ''
      if (text !== undefined) announcement.value = text
      before.current = { hash: route.hash, data }
    }, [data])
    return (
      <Title.Provider value={title}>
        <div class="page">
          {failed || data === undefined ? (
            <>
              <PageHead />
              {failed ? (
                <div role="alert">
                  <Empty title={t('This page cannot be shown')}>
                    <p>{messageOf(error)}</p>
                    <Button onClick={refresh}>{t('Try again')}</Button>
                  </Empty>
                </div>
              ) : (
                <p class="waiting muted" role="status">
                  {t('Reading…')}
                </p>
              )}
            </>
          ) : (
            <View {...data} route={route} />
          )}
        </div>
      </Title.Provider>
    )
  }

/** What an unknown address shows. */
const NoPage = page({ title: () => t('There is no such page'), reads: () => ({}) }, ({ route }) => {
  const [first] = useContext(Items)
  return (
    <>
      <PageHead />
      {/* The heading has the link otherwise. */}
      {route.path.length === 1 && first && <a href={first.href}>{first.label}</a>}
    </>
  )
})
