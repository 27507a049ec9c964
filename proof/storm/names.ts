import type { IncomingMessage } from 'node:http'

const ORDER = /o\d{5}/
const DELIVERY = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
/** What a name ends with that tells of no order. */
export const NO_ORDER = 'no order'
const TARGET = /\.(\w+)$/

/** The order that a name tells of, or nothing. */
export const orderIn = (name: string): string => ORDER.exec(name)?.[0] ?? ''

/** The action of a request to AWS. */
export const actionOf = (headers: IncomingMessage['headers']): string =>
  TARGET.exec(String(headers['x-amz-target'] ?? ''))?.[1] ?? ''

/**
 * Names requests by what they do and the order that they are about, so that a name means the same in every run.
 * Deliveries are named by their order as soon as one was seen with it: their ids are made anew in each run.
 */
export const namer = () => {
  const orders = new Map<string, string>()

  return (
    { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
    body: string,
  ) => {
    const action = actionOf(headers)
    const [order] = ORDER.exec(url) ?? ORDER.exec(body) ?? []
    const [delivery] = DELIVERY.exec(body) ?? []
    if (order !== undefined && delivery !== undefined) orders.set(delivery, order)
    const about = order ?? (delivery && orders.get(delivery)) ?? NO_ORDER
    const table = /"TableName":"(\w+)"/.exec(body)?.[1]
    const verb = action || `${method} ${url.split('?')[0]?.replace(ORDER, '…') ?? ''}`
    return [verb, table, about].filter(part => part !== undefined).join(' ')
  }
}

export type Name = ReturnType<typeof namer>
