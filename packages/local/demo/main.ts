// npm run demo, or npm run demo -- <connector> for the demo of a connector.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { credentialsIn } from '../credentials.ts'
import { givenArguments } from '../flags.ts'
import { SOURCE } from './acts.ts'
import { readArguments, USAGE } from './arguments.ts'
import { partiesOf } from './parties.ts'
import { type Demo, runDemo } from './run.ts'
import { story } from './story.ts'

const CONNECTORS = join(import.meta.dirname, '../../../connectors')

const { connector: name, help, ...options } = givenArguments(readArguments)
if (help) {
  process.stdout.write(USAGE)
  process.exit()
}
if (name === undefined)
  await runDemo(
    {
      steps: story,
      partiesOf: async ({ urls }, dataDir) => partiesOf(urls, SOURCE, credentialsIn(dataDir)),
      look: ({ consoleUrl, urls }) =>
        `The order in the console: ${consoleUrl()}#/orders/${SOURCE}/A-1\nRelay ${urls.relay}, sandbox panel ${urls.sandbox}`,
    },
    options,
  )

const connectors = readdirSync(CONNECTORS)
const connector = connectors.find(each => each.startsWith(name ?? ''))
if (connector === undefined) {
  process.stderr.write(`Cannot run the demo "${name}": the connectors are ${connectors.join(', ')}\n`)
  process.exit(2)
}
const { demo }: { demo: Demo<unknown> } = await import(join(CONNECTORS, connector, 'demo.ts'))
await runDemo(demo, options)
