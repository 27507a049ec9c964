import { html, raw } from 'hono/html'
import type { JsonSchema } from 'order-relay-sandbox/src/openapi/json-schema.ts'

type Html = ReturnType<typeof html>

type Definition = JsonSchema | boolean | undefined

/** The parts of an AsyncAPI 3 document that the page shows. */
type Feeds = {
  info: { title: string; description: string }
  channels: Readonly<
    Record<
      string,
      {
        address: string | null
        description: string
        messages: Readonly<
          Record<
            string,
            {
              title: string
              payload: JsonSchema
              headers?: JsonSchema
              examples: readonly { payload: object }[]
            }
          >
        >
      }
    >
  >
  components: { schemas: Readonly<Record<string, JsonSchema | undefined>> }
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee4, #363c44); --soft: light-dark(#f5f7f9, #1d2126);
  --dim: light-dark(#57606a, #9aa4af); --mark: light-dark(#0d5f50, #6fd3bd);
  background: light-dark(#fff, #14171a); color: light-dark(#1c2126, #e6e9ec); }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 62rem; font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin: 0; font-size: 1rem; }
a { color: var(--mark); } code, pre, .path { font: .875em/1.5 ui-monospace, monospace; }
code { background: var(--soft); padding: .1em .3em; border-radius: .25em; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
.method { display: inline-block; min-width: 4.2em; font-weight: 700; color: var(--mark); text-transform: uppercase; }
.path { font-weight: 600; overflow-wrap: anywhere; } .table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .9rem; }
caption, figcaption { text-align: start; font-weight: 600; padding: .25rem 0; } figure { margin: .75rem 0; }
th, td { text-align: start; vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
thead th { color: var(--dim); font-weight: 500; } tbody th { font-weight: 600; font-family: ui-monospace, monospace; }`

const code = (text: unknown) => html`<code>${String(text)}</code>`

/** Text with `code` in backticks. */
const prose = (text = '') => text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))

const separated = (parts: readonly (Html | string)[], separator: string) =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]))

const table = (caption: string, head: readonly string[], rows: readonly unknown[][]) =>
  rows.length > 0 &&
  html`<div class="table"><table><caption>${caption}</caption>
<thead><tr>${head.map(title => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) =>
      html`<tr><th scope="row">${first}</th>${cells.map(cell => html`<td>${cell}</td>`)}</tr>\n`,
  )}</tbody></table></div>`

const linked = (ref: string): Html => {
  const name = ref.slice(ref.lastIndexOf('/') + 1)
  return html`<a href="#${name}">${name}</a>`
}

/** A schema in a few words: `string or null`, `array of Item`. */
const typeOf = (schema: Definition): Html | string => {
  if (typeof schema !== 'object') return 'any'
  if (schema.$ref) return linked(schema.$ref)
  if (schema.const !== undefined) return code(JSON.stringify(schema.const))
  if (schema.enum) return html`${separated(schema.enum.map(code), ', ')}`
  if (schema.anyOf) return html`${separated(schema.anyOf.map(typeOf), ' or ')}`
  if (schema.type === 'array' && !Array.isArray(schema.items)) return html`array of ${typeOf(schema.items)}`
  return [schema.type ?? 'any'].flat().join(' or ')
}

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength', 'minItems'] as const
const RULES = [...BOUNDS, 'pattern', 'format', 'default'] as const

/** Description, type and constraints of a field or parameter. */
const details = (description: string | undefined, schema: JsonSchema) => {
  const rules = RULES.filter(rule => schema[rule] !== undefined)
  const shown = rules.map(rule => html`${rule} ${code(schema[rule])}`)
  return html`${prose(description)}${shown.length > 0 && html`<br>`}${separated(shown, ', ')}`
}

/** Rows for the fields of a schema; the fields of a nested object follow it. */
const fieldRows = (schema: JsonSchema, prefix = ''): unknown[][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field !== 'object') return []
    const nested = [field, field.items, ...(field.anyOf ?? [])].flat()
    const rows = nested.flatMap(each =>
      typeof each === 'object' ? fieldRows(each, `${prefix}${name}.`) : [],
    )
    const required = schema.required?.includes(name) ? 'yes' : 'no'
    return [[prefix + name, typeOf(field), required, details(field.description, field)], ...rows]
  })

const channelArticle = (name: string, { address, description, messages }: Feeds['channels'][string]) => {
  const [headers = {}] = Object.values(messages).map(message => message.headers)
  return html`<article id="channel-${name}">
<h2><span class="method">${name}</span> <span class="path">${address ?? "the store's own URL"}</span></h2>
<p>${prose(description)}</p>
${table(
  'Messages',
  ['Body', 'When'],
  Object.values(messages).map(({ title, payload }) => [typeOf(payload), title]),
)}
${Object.values(messages).flatMap(({ title, examples }) =>
  examples.map(
    ({ payload }) => html`<figure><figcaption>${title}</figcaption>
<pre>${JSON.stringify(payload, null, 2)}</pre></figure>\n`,
  ),
)}
${table('Headers', ['Header', 'Type', 'Required', 'Description'], fieldRows(headers))}
</article>`
}

/** The AsyncAPI document of the feeds as a web page that loads no other resources. */
export const feedsPage = async ({ info, channels, components }: Feeds): Promise<string> => {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema = {}]) => html`<article id="${name}"><h3>${name}</h3><p>${prose(schema.description)}</p>
${table('Fields', ['Field', 'Type', 'Required', 'Description'], fieldRows(schema))}</article>\n`,
  )
  return String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header><h1>${info.title}</h1>${info.description.split('\n\n').map(part => html`<p>${prose(part)}</p>\n`)}
<p><a href="/docs">The stores' API</a> · <a href="/asyncapi.json">AsyncAPI document</a></p></header>
<main>
${Object.entries(channels).map(([name, channel]) => channelArticle(name, channel))}
<h2>Schemas</h2>${schemas}
</main>
</body>
</html>
`,
  )
}
