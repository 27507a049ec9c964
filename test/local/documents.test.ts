import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { documents } from '../../local/documents/generate.ts'
import { openApi } from '../../local/documents/openapi.ts'

test.each(documents())('$path is current; if not, run "npm run docs"', ({ path, text }) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test("the document of the stores' API is valid OpenAPI 3.1", async () => {
  expect(await new Validator().validate(JSON.parse(JSON.stringify(openApi())))).toEqual({ valid: true })
})
