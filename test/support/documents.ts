import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { FEED_TEST } from '../../lib/feeds/deliver.ts'

const read = (name: string) => JSON.parse(readFileSync(`docs/${name}.json`, 'utf8'))

const API = read('relay.openapi')

const FEEDS = read('feeds.asyncapi')

/** Validation by the published documents. */
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  .addSchema(API, 'docs/relay.openapi.json')
  .addSchema(FEEDS, 'docs/feeds.asyncapi.json')

const errorsOf = (pointer: string, body: unknown): string | undefined => {
  const validate = ajv.getSchema(pointer)
  if (validate === undefined) return `${pointer} is missing`
  return validate(body) === true ? undefined : `${pointer}: ${ajv.errorsText(validate.errors)}`
}

/** Why a body does not match a schema of docs/relay.openapi.json; undefined if it does. */
export const bodyErrors = (schema: string, body: unknown): string | undefined =>
  errorsOf(`docs/relay.openapi.json#/components/schemas/${schema}`, body)

const escaped = (path: string) => encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))

/**
 * Why a response of the stores' API does not match docs/relay.openapi.json; undefined if it does, or if the document
 * does not describe the request.
 *
 * @param path below `/api/v1/orders/`
 */
export const undocumented = (method: string, path: string, status: number, body: unknown) => {
  const [id = ''] = path.split('?')
  const action = /\/(payment|refund)\/?$/.exec(id)?.[1]
  const template = `/api/v1/orders/${id === '' ? '' : `{external_id}/${action === undefined ? '' : `${action}/`}`}`
  const operation = API.paths[template]?.[method.toLowerCase()]
  if (operation === undefined) return undefined
  const answer = `${method} ${template} ${status}`
  if (operation.responses[status] === undefined) return `${answer} is not documented`
  const at = [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ]
  return errorsOf(`docs/relay.openapi.json#/${at.map(escaped).join('/')}`, body)
}

const SCHEMAS: Readonly<Record<string, string>> = { 'order.updated': 'OrderUpdated', [FEED_TEST]: 'Test' }

/** How a feed message deviates from docs/feeds.asyncapi.json, including unknown fields; undefined if it matches. */
export const undocumentedMessage = (message: { event: string }): string | undefined => {
  const name = SCHEMAS[message.event] ?? 'RequestChanged'
  const unknown = Object.keys(message).find(field => !(field in FEEDS.components.schemas[name].properties))
  if (unknown !== undefined)
    return `${name} in docs/feeds.asyncapi.json has no field "${unknown}": add it to packages/contract/schemas.ts and run "npm run docs"`
  return errorsOf(`docs/feeds.asyncapi.json#/components/schemas/${name}`, message)
}

/** The fenced code blocks of a page in one language. */
export const codeBlocks = (page: string, language: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  )

/** The curl commands of a page as requests to a server: method, path, body and key. */
export const curlCommands = (page: string, server: string) =>
  codeBlocks(page, 'sh')
    .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
    .filter(line => line.trim().startsWith('curl '))
    .map(line => ({
      path: line.split(server)[1]?.split(/[' ]/)[0] ?? '',
      method: /-X (\w+)/.exec(line)?.[1] ?? 'POST',
      body: /-d '([^']*)'/.exec(line)?.[1],
      key: /Bearer ([\w-]+)/.exec(line)?.[1] ?? null,
    }))
