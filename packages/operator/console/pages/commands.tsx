import { Button, Command } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import type { RouteData } from './api.ts'
import { auditHours } from './audit.tsx'
import { retryStore } from './feed-pieces.tsx'
import { t } from './persian.ts'
import { plan } from './plans.tsx'
import {
  askIndex,
  askKey,
  askRegister,
  askRevoke,
  askRotate,
  askUnregister,
  rotateLabel,
  SERVICE,
} from './remedies.tsx'
import { askRetry } from './retry.tsx'
import { askNewKey } from './store-keys.tsx'

type Options = Readonly<Record<string, string | undefined>>

/** The address of a page or an action. */
type Instead = string | ((service: RouteData<'service'>) => unknown)

type Label = string | ((service: RouteData<'service'>) => string | undefined)

const HOURS: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24 }

const hoursOf = (since: string) => Number.parseInt(since, 10) * (HOURS[since.slice(-1)] ?? 1)

/** The shortest period of the page that includes the command's period. */
const periodOf = (since = '') => {
  const hours = hoursOf(since)
  return hours <= 1 ? '1h' : hours <= 24 ? '24h' : '7d'
}

const replay =
  (command: 'dead' | 'quarantine') =>
  ({ all, source }: Options): Instead =>
    all || source ? () => plan(command, 'replay', { source }) : linkTo([command])

/** What the console does instead of a `relay` command. The first matching prefix applies. */
const INSTEAD: readonly (readonly [command: string, label: Label, (options: Options) => Instead])[] = [
  ['key set', t('Set the API key…'), () => askKey],
  ['register --again', t('Register again…'), () => service => askRegister(service, true)],
  ['register', t('Register…'), () => askRegister],
  ['rotate', rotateLabel, () => askRotate],
  ['unregister', t('Unregister…'), () => askUnregister],
  ['stores index', t('Write the index'), () => askIndex],
  [
    'stores revoke',
    t('Revoke'),
    ({ store = '', key: id = '' }) =>
      () =>
        askRevoke(store, { id }),
  ],
  [
    'stores key',
    t('New key'),
    ({ store }) => (store === undefined ? linkTo(['stores']) : () => askNewKey(store)),
  ],
  [
    'stores secret',
    t('New secret'),
    ({ store }) => linkTo(store === undefined ? ['stores'] : ['stores', store]),
  ],
  [
    'stores test',
    t('Send a test event'),
    ({ store }) => linkTo(store === undefined ? ['stores'] : ['stores', store]),
  ],
  ['stores list', t('Stores'), () => linkTo(['stores'])],
  ['stores', t('Stores'), ({ store }) => linkTo(store === undefined ? ['stores'] : ['stores', store])],
  ['dead discard --done', t('Plan a deletion'), () => () => plan('dead', 'discard', { done: true })],
  ['dead replay --from', t('Dead letters'), () => linkTo(['dead'])],
  ['dead replay', t('Plan a replay'), replay('dead')],
  ['dead', t('Dead letters'), ({ source }) => linkTo(['dead'], { source })],
  ['quarantine replay', t('Plan a replay'), replay('quarantine')],
  ['quarantine discard', t('Plan a deletion'), () => () => plan('quarantine', 'discard', {})],
  ['quarantine', t('Quarantine'), () => linkTo(['quarantine'])],
  [
    'audit',
    t('Audit'),
    ({ since = '24h' }) =>
      () =>
        auditHours(hoursOf(since)),
  ],
  [
    'feeds retry',
    t('Retry all now'),
    ({ store }) => (store === undefined ? linkTo(['stores']) : () => () => retryStore(store)),
  ],
  ['feeds list', t('Messages'), ({ source }) => linkTo(['feeds'], { source, since: '24h' })],
  [
    'deliveries',
    t('Deliveries'),
    ({ since, outcome }) => linkTo(['deliveries'], { since: periodOf(since), outcome }),
  ],
  ['imports', t('Overview'), () => linkTo(['overview'])],
  ['status', t('Overview'), () => linkTo(['overview'])],
  ['doctor', t('Setup'), () => linkTo(['setup'])],
  ['explain-signature', t('Explain a signature'), () => linkTo(['setup', 'signature'])],
  ['orders retry --all', t('Retry now…'), () => askRetry],
  ['orders list --accountant', t('Orders'), () => linkTo(['orders'], { show: 'accountant' })],
  ['orders', t('Orders'), ({ failing }) => linkTo(['orders'], { show: failing && 'failing' })],
  [
    'tail',
    t('Log'),
    ({ since, errors, source, order }) => linkTo(['log'], { since: periodOf(since), errors, source, order }),
  ],
]

const WORD = /'([^']*)'|(\S+)/g

/** The options of a command, without placeholders; `store` and `key` are the arguments after the subcommand. */
const optionsOf = (words: readonly string[]): Options => {
  const given = words.map((word, index) => {
    const next = words[index + 1] ?? ''
    return [word.replace(/^--/, ''), next === '' || next.startsWith('--') ? 'true' : next] as const
  })
  const options = given.filter(([, value], index) => words[index]?.startsWith('--') && !value.startsWith('<'))
  const isGiven = (word: string | undefined) => word !== undefined && !/^(--|<)/.test(word)
  const [, , store, key] = words
  return { ...Object.fromEntries(options), ...(isGiven(store) && { store }), ...(isGiven(key) && { key }) }
}

/** A button or link for what the console does instead of a command such as `relay key set --local`. */
export const InConsole = ({ command }: { command: string }) => {
  const { data } = useResources({ service: SERVICE })
  const words = [...command.replace(/^.*?relay\s+/, '').matchAll(WORD)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  )
  const [, label, insteadOf] = INSTEAD.find(([start]) => `${words.join(' ')} `.startsWith(`${start} `)) ?? []
  const does = insteadOf?.(optionsOf(words))
  if (typeof does === 'string') return <a href={does}>{String(label)}</a>
  if (does === undefined || data === undefined) return null
  const text = typeof label === 'function' ? label(data.service) : label
  return (
    text !== undefined && (
      <Button kind="small" onClick={() => does(data.service)}>
        {text}
      </Button>
    )
  )
}

/** A command for a shell, with the options that select this relay. */
export const ForShell = ({ command }: { command: string }) => {
  const { data } = useResources({ service: SERVICE })
  if (command !== 'npx serverless deploy') return <Command text={command} />
  return data === undefined ? null : <Command text={data.service.deploy} />
}
