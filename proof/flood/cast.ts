import { join } from 'node:path'
import { type Child, startChild } from '../../local/child.ts'
import type { Ports } from '../../local/settings.ts'
import { ACCOUNT_ID, awsEnvironment, urlOf } from '../../local/settings.ts'
import { type News, readNews } from './news.ts'
import { SECRETS_PATH } from './provision.ts'
import { type Settings, toEnvironment } from './settings.ts'

const PROJECT = join(import.meta.dirname, '../..')
const START_MS = 30_000

/** A process of the flood, and what it has told so far. */
export type Player = Child & { name: string; said: News; resident: number[]; live: number[] }

/** What the functions find in their environment on Lambda, and nothing of whoever runs the flood. */
const environmentOf = (name: string, settings: Settings, ports: Ports) => {
  const queue = (queueName: string) => `${urlOf(ports.sqs)}/${ACCOUNT_ID}/${queueName}`
  const own = Object.entries(process.env).filter(
    ([variable]) => !/^(?:AWS_|NODE_|POWERTOOLS_)/.test(variable),
  )
  return {
    ...Object.fromEntries(own),
    ...awsEnvironment(ports, settings.region),
    ...toEnvironment(settings),
    AWS_ACCESS_KEY_ID: name.replace(/ \d+$/, ''),
    DELIVERIES_TABLE: 'deliveries',
    ORDERS_TABLE: 'orders',
    LINE_URL: queue('order-line.fifo'),
    QUARANTINE_URL: queue('quarantine'),
    SECRETS_PATH,
    ACCOUNTING_URL: urlOf(ports.sandbox),
    NODE_COMPILE_CACHE: join(PROJECT, 'node_modules/.cache/order-relay'),
  }
}

const isFunction = (name: string) => /^(?:receiver|worker) /.test(name)

/** What the functions write for people and metrics when all is well. */
const isUsual = (line: string) => line.startsWith('{"level":"INFO"') || line.startsWith('{"_aws":')

/**
 * Starts one process of the flood.
 *
 * @param name such as `receiver 1`: the script, and a number where there are several
 * @param trouble hears of every line that is no news: warnings, errors, crashes
 */
export const startPlayer = (
  name: string,
  settings: Settings,
  ports: Ports,
  trouble: (line: string) => void,
): Player => {
  const said: News = {}
  const resident: number[] = []
  const live: number[] = []
  const script = `processes/${name.replace(/ \d+$/, '')}.ts`
  const child = startChild({
    name,
    args: [...(isFunction(name) ? ['--expose-gc'] : []), join(import.meta.dirname, script)],
    cwd: settings.directory,
    environment: environmentOf(name, settings, ports),
    onLine: line => {
      if (isUsual(line)) return
      const news = readNews(line)
      if (news === undefined) trouble(`${name}: ${line}`)
      else Object.assign(said, news)
      if (news?.rss !== undefined) resident.push(news.rss)
      if (news?.live !== undefined) live.push(news.live)
    },
    milestoneOf: line => (line.startsWith('{"flood":{"ready"') ? 'ready' : undefined),
  })
  return { ...child, name, said, resident, live }
}

export const ready = (players: readonly Player[]): Promise<unknown> =>
  Promise.all(players.map(player => player.reached('ready', START_MS)))
