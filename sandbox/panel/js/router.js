/** @import { Route } from './types.d.ts' */

/**
 * The address of a page inside the panel.
 *
 * @param {string[]} path
 * @param {Record<string, string | null | undefined>} [query]
 */
export const linkTo = (path, query = {}) => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, value)
  }
  return `#/${path.map(encodeURIComponent).join('/')}${params.size === 0 ? '' : `?${params}`}`
}

/** @param {{ source: string, external_id: string }} order */
export const linkToOrder = ({ source, external_id }) => linkTo(['orders', external_id], { source })

/** @param {string} text */
const decoded = text => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Reads an address hash; anything that is not `#/…` is the list of orders.
 *
 * @param {string} hash
 * @returns {Route}
 */
export const parseRoute = hash => {
  const [path = '', query = ''] = hash.startsWith('#/') ? hash.slice(2).split(/\?(.*)/s) : ['orders']
  return {
    path: path === '' ? ['orders'] : path.split('/').map(decoded),
    query: new URLSearchParams(query),
  }
}

/**
 * Changes the address without a new entry in the browser's history, as filters do.
 *
 * @param {string} link
 */
export const replaceRoute = link => location.replace(link)
