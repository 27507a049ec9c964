import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const { resolve } = createRequire(import.meta.url)

const AXE = readFileSync(resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong with the page as it stands.
 *
 * @param rules the rules to check @default all, best practices included
 */
export const violationsOf = async (page: Page, rules?: string[]): Promise<string[]> => {
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) }
  await page.evaluate(AXE)
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ help, nodes }) => help + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}
