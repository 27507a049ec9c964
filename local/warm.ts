import { invoker } from './invoke.ts'
import type { Service } from './service.ts'
import { type Ports, urlOf } from './settings.ts'

const routeOf = (httpApi: string | { method: string; path: string }) => {
  if (typeof httpApi !== 'string') return httpApi
  const [method = '', path = ''] = httpApi.split(' ')
  return { method, path }
}

/**
 * One request per function that answers HTTP: without signature or key it is refused, and the refusal has
 * loaded the function.
 */
const harmlessRequests = ({ functions }: Service, relayPort: number) =>
  Object.values(functions).flatMap(({ events }) => {
    const httpApi = events.find(event => event.httpApi !== undefined)?.httpApi
    if (httpApi === undefined) return []
    const { method, path } = routeOf(httpApi)
    return [
      {
        method: /^[a-z]+$/i.test(method) && method.toUpperCase() !== 'ANY' ? method.toUpperCase() : 'GET',
        url: urlOf(relayPort) + path.replaceAll(/\{[^}]*\}/g, 'warm'),
      },
    ]
  })

/** Loads every function once, so that the first order does not wait for it. */
export const warm = async (service: Service, ports: Ports): Promise<void> => {
  const requests = harmlessRequests(service, ports.relay).map(async ({ method, url }) => {
    const response = await fetch(url, { method, ...(method !== 'GET' && { body: '{}' }) })
    await response.arrayBuffer()
  })
  const batches = Object.values(service.functions)
    .filter(({ events }) => events.some(({ sqs }) => sqs !== undefined))
    .map(({ name }) => invoker({ port: ports.lambda, functionName: name })({ Records: [] }))
  await Promise.all([...requests, ...batches])
}
