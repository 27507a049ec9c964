import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * What axe finds wrong with the page as it stands.
 *
 * @param rules the rules to check @default all, best practices included
 */
export const violationsOf = async (page: Page, rules?: string[]): Promise<string[]> => {
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) }
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ help, nodes }) => help + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}
