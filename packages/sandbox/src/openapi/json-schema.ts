import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { SCHEMAS } from './schemas.ts'

export type JsonSchema = ReturnType<typeof toJsonSchemaDefs>[string]

/** `anyOf: [X, X]` as X, and `anyOf: [X, null]` in its usual form, `type: [x, null]`. */
const simplified = (schema: JsonSchema): JsonSchema => {
  const [first, second, ...more] = schema.anyOf ?? []
  if (typeof first !== 'object' || typeof second !== 'object' || more.length > 0) return schema
  if (JSON.stringify(first) === JSON.stringify(second)) return first
  if (second.type !== 'null' || typeof first.type !== 'string' || first.enum) return schema
  const { anyOf: _, ...rest } = schema
  return { ...first, ...rest, type: [first.type, 'null'] }
}

/** The schema of a body that has one of these forms. */
export const anyForm = (forms: readonly JsonSchema[]): JsonSchema =>
  forms.length === 1 ? { ...forms[0] } : { anyOf: [...forms] }

/** The conversion of our schemas to JSON Schemas. */
export const CONVERSION: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'output',
  // A check is a function; its JSON Schema equivalent, if any, is in the metadata next to it.
  ignoreActions: ['check'],
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  // An ExactNumber is a number that a double cannot hold; in JSON, it is a number.
  overrideSchema: ({ valibotSchema, jsonSchema }) =>
    valibotSchema.type === 'instance' ? { type: 'number' } : simplified(jsonSchema),
}

/** The JSON Schema of every component; they refer to each other by `#/components/schemas/…`. */
export const jsonSchemas = () => toJsonSchemaDefs(SCHEMAS, CONVERSION)

/** The JSON Schema of a query parameter. */
export const parameterSchema = (schema: v.GenericSchema): JsonSchema => {
  const { $schema: _, ...jsonSchema } = toJsonSchema(schema, CONVERSION)
  return jsonSchema
}
