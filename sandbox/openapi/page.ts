import { type OpenApi, operations } from './document.ts'
import { escaped, page, prose, table } from './html.ts'
import type { Operation } from './operation.ts'
import type { JsonSchema } from './schemas.ts'

type Definition = JsonSchema | boolean | undefined

const linked = (ref: string) => {
  const name = ref.slice(ref.lastIndexOf('/') + 1)
  return `<a href="#${name}">${name}</a>`
}

/** A schema in a few words: `string or null`, `array of Item`. */
const typeOf = (schema: Definition): string => {
  if (typeof schema !== 'object') return 'anything'
  if (schema.$ref) return linked(schema.$ref)
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`
  if (schema.enum) return schema.enum.map(value => `<code>${escaped(String(value))}</code>`).join(', ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array' && !Array.isArray(schema.items)) return `array of ${typeOf(schema.items)}`
  return [schema.type ?? 'anything'].flat().join(' or ')
}

const RULES = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'maxLength',
  'minItems',
  'pattern',
  'format',
  'default',
] as const

const rulesOf = (schema: Definition) =>
  typeof schema !== 'object'
    ? ''
    : RULES.flatMap(rule =>
        schema[rule] === undefined ? [] : [`${rule} <code>${escaped(String(schema[rule]))}</code>`],
      ).join(', ')

/** Rows for the fields of a schema, those of objects inside it after their own. */
const fieldRows = (schema: JsonSchema, prefix = ''): string[][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field !== 'object') return []
    const needed = schema.required?.includes(name) ? 'yes' : 'no'
    const items = typeof field.items === 'object' && !Array.isArray(field.items) ? [field.items] : []
    const inner = [field, ...items, ...(field.anyOf ?? [])].flatMap(each =>
      typeof each === 'object' && each.properties ? fieldRows(each, `${prefix}${name}.`) : [],
    )
    const words = [prose(field.description ?? ''), rulesOf(field)].filter(Boolean).join('<br>')
    return [[escaped(prefix + name), typeOf(field), needed, words], ...inner]
  })

const pathOf = ({ path, example }: Operation) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => example?.path?.[name] ?? name) +
  (example?.query ? `?${example.query}` : '')

/** The example as a command to paste. */
const curl = (operation: Operation, origin: string) => {
  const { method, access, example } = operation
  const lines = [
    `curl -X ${method.toUpperCase()} '${origin}${pathOf(operation)}'`,
    ...(access === 'local' ? [] : [`-H 'Authorization: Bearer sandbox-key'`]),
    ...(example?.body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(example.body)}'`]),
  ]
  return `<pre><code>${escaped(lines.join(' \\\n  '))}</code></pre>`
}

const bodyOf = ({ body, bodyIsOptional }: Operation) =>
  body === undefined
    ? ''
    : `<p>Body${bodyIsOptional ? ' (optional)' : ''}: ${[body].flat().map(linked).join(' or ')}</p>`

const article = (operation: Operation, { paths }: OpenApi, origin: string) => {
  const { parameters, responses } = paths[operation.path]?.[operation.method] ?? {
    parameters: [],
    responses: {},
  }
  const answers = Object.entries(responses).map(([status, { description }]) => {
    const schema = operation.answers[Number(status)]?.schema ?? (Number(status) >= 400 ? 'Error' : undefined)
    return [status, prose(description), schema ? linked(schema) : '']
  })
  return `<article id="${operation.id}">
<h3><span class="method">${operation.method}</span> <span class="path">${escaped(operation.path)}</span></h3>
<p><strong>${escaped(operation.summary)}.</strong> ${prose(operation.description ?? '')}</p>
${table(
  'Parameters',
  ['Name', 'In', 'What'],
  parameters.map(each => [each.name, each.in, prose(each.description)]),
)}
${bodyOf(operation)}
${operation.example ? curl(operation, origin) : ''}
${table('Answers', ['Status', 'When', 'Body'], answers)}
</article>`
}

/**
 * The document as a page to read, with nothing fetched from elsewhere.
 *
 * @param origin where the sandbox listens, for the examples
 */
export const documentPage = (document: OpenApi, origin: string): string => {
  const { info, tags, components, webhooks } = document
  const { post } = webhooks['order.updated']
  const [orders, accountant, webhook] = tags
  const listed = (access: 'local' | 'key') =>
    operations.filter(each => (each.access === 'local') === (access === 'local'))
  const articles = (access: 'local' | 'key') =>
    listed(access)
      .map(each => article(each, document, origin))
      .join('\n')
  const links = operations.map(({ id, summary }) => `<li><a href="#${id}">${escaped(summary)}</a></li>`)
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<article id="${name}"><h3>${name}</h3><p>${prose(schema.description)}</p>
${table('Fields', ['Field', 'Type', 'Required', 'What'], fieldRows(schema))}</article>`,
  )
  return page(
    info.title,
    `<header><h1>${escaped(info.title)}</h1><p>${prose(info.description)}</p>
<p><a href="/openapi.json">OpenAPI 3.1 document</a> · <a href="/">Accountant's panel</a></p></header>
<nav aria-label="Endpoints"><ul>${links.join('')}</ul></nav>
<main>
<h2>${orders?.name}</h2><p>${prose(orders?.description ?? '')}</p>${articles('key')}
<h2>${webhook?.name}</h2><p>${prose(webhook?.description ?? '')}</p>
<article id="${post.operationId}"><h3>${escaped(post.summary)}</h3><p>${prose(post.description)}</p>
<p>Body: ${linked('Webhook')}</p></article>
<h2>${accountant?.name}</h2><p>${prose(accountant?.description ?? '')}</p>${articles('local')}
<h2>Schemas</h2>${schemas.join('\n')}
</main>`,
  )
}
