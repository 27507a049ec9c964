import type { Context } from '../core/context.ts'
import { auditRoutes, createAudits } from './audit.ts'
import { conformanceRoutes } from './conformance.ts'
import { messageRoutes } from './dead-letters.ts'
import { deliveriesRoutes } from './deliveries.ts'
import { feedsRoutes } from './feeds.ts'
import type { Live } from './live.ts'
import { logRoutes } from './log.ts'
import { orderRoutes } from './orders.ts'
import { overviewRoutes } from './overview.ts'
import { createReadings } from './readings.ts'
import type { Route } from './route.ts'
import { setupRoutes } from './setup.ts'
import { storesRoutes } from './stores.ts'
import { tourRoutes } from './tour.ts'

/**
 * Everything that the pages call. To add a page: its routes in a module of this folder, listed here, and the page in
 * `pages/`, listed in `pages/main.tsx`.
 */
export const routesOf = (context: Context, live: Live) => {
  const readings = createReadings(context)
  const audits = createAudits()
  return [
    ...overviewRoutes(context, live, audits, readings),
    ...messageRoutes(context, live, readings),
    ...storesRoutes(context, live, readings),
    ...conformanceRoutes(context, live),
    ...setupRoutes(context, live, audits),
    ...orderRoutes(context, live, readings),
    ...deliveriesRoutes(context, readings),
    ...feedsRoutes(context, live, readings),
    ...logRoutes(context),
    ...auditRoutes(context, live, audits, readings),
    ...tourRoutes(context),
  ] satisfies Route[]
}

export type Routes = ReturnType<typeof routesOf>[number]
