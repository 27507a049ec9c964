import { SearchBox } from '@order-relay/web/filters.tsx'
import { queryOf, request } from '@order-relay/web/http.ts'
import { attempt } from '@order-relay/web/notices.ts'
import { linkTo, replaceRoute, route } from '@order-relay/web/route.ts'
import type { RouteData } from './api.ts'
import { t } from './persian.ts'
import { linkToMessage, linkToOrder } from './pieces.tsx'

const isShown = () => route.value.path.join('/') === 'orders'

/** Shows the orders found on the list of orders. Further typing replaces the route, so one step back leaves the search. */
const search = (q: string) => {
  const found = linkTo(['orders'], { q })
  if (isShown()) replaceRoute(found)
  else if (q !== '') location.hash = found
}

/** Opens the order or message if only one was found. */
const open = (q: string) =>
  attempt(async () => {
    const { orders, messages } = await request<RouteData<'orders'>>('GET', `/api/orders${queryOf({ q })}`)
    const [only, ...others] = [
      ...orders.map(({ source, external_id }) => linkToOrder(source, external_id)),
      ...messages.map(linkToMessage),
    ]
    if (only && others.length === 0) location.hash = only
    else search(q)
  })

/** Finds orders from any page, by any of their identifiers. Keeps the focus while the list updates. */
export const Search = () => (
  <search class="search" data-keeps-focus={isShown() || undefined}>
    <SearchBox
      label={t(
        'Find an order by its number, a request, delivery or invoice, or the reference of a recent payment; or a dead letter or a message in quarantine by its id',
      )}
      placeholder={t('Search: order, request, delivery, invoice, payment')}
      onChoose={search}
      onEnter={open}
    />
  </search>
)
