import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseStores, readStores } from '@order-relay/deploy/stores.ts'
import { WEBHOOK_PATH } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import { type Build, buildFunctions } from './build.ts'
import {
  awsEnvironment,
  ENVIRONMENT_FILE,
  keptCredentials,
  queueEnvironment,
  saveEnvironment,
} from './credentials.ts'
import { openDataDir } from './data-dir.ts'
import { offlineOf } from './gateway.ts'
import { credentialsRefusal, foreignRefusal, guardServers } from './guard.ts'
import { keepStores, keepsStores, keptStores } from './kept-stores.ts'
import { onNpmExit } from './parent.ts'
import { assertFree } from './ports.ts'
import type { Relay } from './relay.ts'
import { readService } from './service.ts'
import { STORES_CHANGED, savePorts, settingsFrom, urlOf } from './settings.ts'

type Values = Record<string, unknown>

/** The parts of osls that this plugin uses. */
type Serverless = {
  serviceDir: string
  processedInput: { commands: readonly string[] }
  configSchemaHandler: { validateConfig: () => Promise<void> }
  pluginManager: { plugins: readonly unknown[]; spawn: (command: string) => Promise<void> }
  service: {
    provider: Values
    functions: Record<string, Values>
    custom: { 'serverless-offline': Values }
  }
}
type Log = Record<'notice' | 'warning' | 'error', (text: string) => void>

/** The message of `npm start` once the relay is registered at the sandbox, without a secret if it was registered before. */
const registered = v.object({ webhookSecret: v.exactOptional(v.string()) })

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Undefined if the file is missing or cannot be read. */
const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Removes the developer's own AWS variables, so that the functions cannot reach a real account. */
const replaceAwsVariables = (environment: NodeJS.ProcessEnv, replacement: Record<string, string>) => {
  for (const name of Object.keys(environment)) {
    if (name.startsWith('AWS_')) delete environment[name]
  }
  Object.assign(environment, replacement)
}

/**
 * Makes `serverless offline` run the complete relay: embedded DynamoDB, SQS and Parameter Store with the tables and
 * queues of the stack, and the event sources between queues and functions. It replaces serverless-offline's own start,
 * which opens its ports before anything works.
 */
export default class LocalPlugin {
  readonly hooks: Record<string, () => Promise<void>>

  constructor(serverless: Serverless, _options: unknown, { log }: { log: Log }) {
    const { service, serviceDir, pluginManager, processedInput, configSchemaHandler } = serverless
    // It compiles eight megabytes of generated code, a fifth of the start time, and a deployment validates as well.
    if (processedInput.commands[0] === 'offline') configSchemaHandler.validateConfig = async () => undefined
    const parent = process.send === undefined ? undefined : once(process, 'message')
    let relay: Relay | undefined
    let building: Promise<Build> | undefined
    let endOffline: (() => Promise<void>) | undefined

    const rebuilt = async (write: () => Promise<void>) => {
      await relay?.pause(() =>
        log.notice('The changed functions are used when the running batches of messages have ended'),
      )
      try {
        await write()
        // Terminates the threads that run the old code.
        await pluginManager.spawn('offline:functionsUpdated')
      } finally {
        relay?.resume()
      }
    }

    const start = async () => {
      const settings = settingsFrom(process.env)
      const { ports, dataDir, watch } = settings
      // start.ts ends this process through its IPC channel; npx has none.
      if (parent === undefined) await onNpmExit(() => process.kill(process.pid, 'SIGTERM'))
      process.umask(0o077)
      await openDataDir(dataDir)
      await assertFree(ports, ['relay', 'lambda', 'dynamodb', 'sqs', 'ssm'])
      const credentials = await keptCredentials(dataDir)
      guardServers(request => {
        // The relay's own routes have signatures and keys.
        if (request.socket.localPort !== ports.relay)
          return foreignRefusal(request) ?? credentialsRefusal(request, credentials)
        // Webhooks are tested through tunnels, with another Host.
        const isWebhook = request.method === 'POST' && request.url === WEBHOOK_PATH
        return isWebhook ? undefined : foreignRefusal(request, `only POST ${WEBHOOK_PATH}`)
      })
      const storesFile = join(serviceDir, 'stores.yml')
      const storesRead = readFileSync(storesFile, 'utf8')
      const read = readService(service, serviceDir, ports)
      const stores = parseStores(storesRead, storesFile)
      const sources = stores.map(({ source }) => source)
      const earlier = keptStores(dataDir) ?? []

      // Imported late: the AWS SDK takes a while to load, and a taken port is reported immediately.
      const { startRelay } = await import('./relay.ts')
      relay = await startRelay({
        service: read,
        settings,
        credentials,
        sources,
        removed: earlier.flatMap(({ source }) => (sources.includes(source) ? [] : [source])),
        webhookSecrets: (process.env.RELAY_WEBHOOK_SECRETS ?? '').split(',').filter(secret => secret !== ''),
        onError: error => log.error(messageOf(error)),
      })
      // The data directory is locked: another start with other ports has not replaced the file.
      await saveEnvironment(dataDir, queueEnvironment(ports, credentials))
      await savePorts(settings)
      await keepStores(dataDir, storesRead)
      const options = service.custom['serverless-offline']
      // Next to the data, so that several stacks and a deployment can build concurrently.
      const outdir = join(dataDir, 'build')
      options.location = relative(serviceDir, outdir)
      // packages/local/gateway.ts enforces timeouts.
      options.noTimeout = true
      building = buildFunctions({
        serviceDir,
        outdir,
        handlers: read.handlers,
        onRebuilt: watch ? rebuilt : undefined,
      })
      await Promise.all([relay.ready, building])
      if (parent !== undefined) {
        const [message] = await parent
        await relay.useWebhookSecret(v.parse(registered, message).webhookSecret)
      }

      replaceAwsVariables(process.env, awsEnvironment(ports, credentials))
      // Stack traces refer to the source, as they do in `relay tail` for a deployment.
      service.provider.environment = { ...read.environment, NODE_OPTIONS: '--enable-source-maps' }
      for (const [key, lambda] of Object.entries(service.functions)) {
        lambda.environment = read.environments[key]
      }
      const offline = offlineOf(pluginManager.plugins)
      endOffline = offline.end
      await relay.serve(await offline.open())
      log.notice(
        `Relay ${urlOf(ports.relay)}, DynamoDB ${urlOf(ports.dynamodb)}, SQS ${urlOf(ports.sqs)}, ` +
          `Parameter Store ${urlOf(ports.ssm)}, data in ${dataDir}, credentials in its ${ENVIRONMENT_FILE}`,
      )
      // Queues, keys and event sources depend on stores.yml, not only the functions.
      let last: string | undefined = storesRead
      let isBroken = false
      const checkStores = () => {
        const text = textOf(storesFile)
        // Editors empty a file before they write it.
        if (text === last || text === '') return
        last = text
        try {
          readStores(storesFile)
        } catch (error) {
          isBroken = true
          return log.error(`${messageOf(error)}\n${keepsStores(stores)}`)
        }
        if (text !== storesRead) {
          if (process.send !== undefined && watch) process.send(STORES_CHANGED)
          else log.warning('stores.yml has changed: restart this command to use it')
        } else if (isBroken) {
          // Not a warning, and `npm start` shows no notices.
          process.stdout.write('stores.yml is valid again: the relay uses its stores\n')
        }
        isBroken = false
      }
      // fs.watchFile would miss changes made before it first reads the file, such as during the start.
      setInterval(checkStores, 1000).unref()
      process.send?.('ready')
    }

    const stop = async () => {
      await relay?.stop()
      await building?.then(
        build => build.close(),
        () => undefined,
      )
      await endOffline?.()
      // If left running, the esbuild service prints an error when the process exits.
      const { stop: stopEsbuild } = await import('esbuild')
      await stopEsbuild()
    }

    /** Ends the process: osls and serverless-offline would keep it alive after an error. */
    const run = async () => {
      let code = 0
      try {
        await start()
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
      } catch (error) {
        log.error(messageOf(error))
        code = 1
      }
      await stop()
      process.exit(code)
    }

    this.hooks = { 'before:offline:start': run, 'before:offline:start:init': run }
  }
}
