import { Ajv2020 } from 'ajv/dist/2020.js'
import * as v from 'valibot'

/** The parts of a JSON Schema from which values are made; Ajv reads the others. */
export type Schema = {
  $ref?: string
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  type?: string | string[]
  enum?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
}

const schema: v.GenericSchema<Schema> = v.looseObject({
  $ref: v.exactOptional(v.string()),
  anyOf: v.exactOptional(v.array(v.lazy(() => schema))),
  properties: v.exactOptional(
    v.record(
      v.string(),
      v.lazy(() => schema),
    ),
  ),
  required: v.exactOptional(v.array(v.string())),
  items: v.exactOptional(v.lazy(() => schema)),
  type: v.exactOptional(v.union([v.string(), v.array(v.string())])),
  enum: v.exactOptional(v.array(v.unknown())),
  format: v.exactOptional(v.string()),
  pattern: v.exactOptional(v.string()),
  minimum: v.exactOptional(v.number()),
  maximum: v.exactOptional(v.number()),
})

/** Media types and their schemas. */
const content = v.record(v.string(), v.object({ schema: v.exactOptional(schema) }))

const response = v.object({
  headers: v.optional(v.record(v.string(), v.object({ schema })), {}),
  content: v.exactOptional(content),
})

const operation = v.object({
  operationId: v.string(),
  tags: v.optional(v.array(v.string()), []),
  parameters: v.optional(
    v.array(
      v.object({
        name: v.string(),
        in: v.picklist(['path', 'query', 'header']),
        required: v.optional(v.boolean(), false),
        schema,
      }),
    ),
    [],
  ),
  requestBody: v.exactOptional(v.object({ required: v.optional(v.boolean(), false), content })),
  responses: v.record(v.string(), response),
  security: v.exactOptional(v.array(v.unknown())),
})

const openApi = v.object({
  paths: v.record(v.string(), v.record(v.string(), operation)),
  components: v.object({ schemas: v.record(v.string(), schema) }),
  security: v.optional(v.array(v.unknown()), []),
})

export type Operation = v.InferOutput<typeof operation> & {
  method: string
  /** In the form of OpenAPI, such as `/orders/{id}/`. */
  path: string
  /** The documented methods of the path. */
  methods: readonly string[]
  isSecured: boolean
}

const FORMATS = {
  date: (text: string) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text),
  uri: (text: string) => URL.canParse(text),
  'date-time': (text: string) => /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text),
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
}

/** Validation by the schemas of a document. */
const validatorOf = (document: object) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS })
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  /** Why a value does not match the schema with this JSON pointer, or a schema that refers to the document. */
  return (of: string | Schema, value: unknown): string | undefined => {
    const key = JSON.stringify(of)
    const validate =
      compiled.get(key) ??
      (typeof of === 'string' ? ajv.getSchema(`document#${of}`) : ajv.compile(absolute(of)))
    if (validate === undefined) return `${of} is missing`
    compiled.set(key, validate)
    return validate(value) === true ? undefined : ajv.errorsText(validate.errors)
  }
}

/** The schema with references to the document in place of references to itself. */
const absolute = (of: Schema): object =>
  JSON.parse(JSON.stringify(of).replaceAll('"#/components/', '"document#/components/'))

/** The operations of an OpenAPI document, and its schemas. */
export const readOpenApi = (document: object) => {
  const { paths, components, security } = v.parse(openApi, document)
  const operations = Object.entries(paths).flatMap(([path, of]) =>
    Object.entries(of).map(
      ([method, each]): Operation => ({
        ...each,
        method: method.toUpperCase(),
        path,
        methods: Object.keys(of).map(name => name.toUpperCase()),
        isSecured: (each.security ?? security).length > 0,
      }),
    ),
  )
  return { operations, schemas: components.schemas, errorsOf: validatorOf(document) }
}

export type OpenApi = ReturnType<typeof readOpenApi>
