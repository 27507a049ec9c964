import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * The accessibility violations of the current page.
 *
 * @param rules the rules to check @default all rules, including best practices
 */
export const violationsOf = async (page: Page, rules?: string[]): Promise<string[]> => {
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) }
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  // In a transition, colors are between those of two states.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))')
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ help, nodes }) => help + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}
