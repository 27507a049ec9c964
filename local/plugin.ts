import { join, relative } from 'node:path'
import type { Embedded } from './embedded.ts'
import type { EventSource } from './event-source.ts'
import { awsEnvironment, replaceAwsVariables, resolveEnvironments } from './functions-environment.ts'
import { gatewayOf, limitConcurrency } from './gate.ts'
import { type Resolve, resolver } from './intrinsics.ts'
import { assertFree } from './ports.ts'
import { readService, type Service } from './service.ts'
import { type Settings, settingsFrom, urlOf } from './settings.ts'
import { within } from './wait.ts'

/** How long a running function may finish when the stack stops, milliseconds. */
const STOP_MS = 5_000

type Values = Record<string, unknown>

/** What this plugin uses of osls. */
type Serverless = {
  serviceDir: string
  processedInput: { commands: readonly string[] }
  classes: { Error: new (message: string, code: string) => Error }
  pluginManager: {
    plugins: readonly unknown[]
    spawn: (command: string, options: { terminateLifecycleAfterExecution: boolean }) => Promise<void>
  }
  service: {
    provider: Values
    functions: Record<string, Values>
    custom: { esbuild: Values }
  }
}
type Log = { notice: (text: string) => void; error: (text: string) => void }

/**
 * Makes `serverless offline` the whole of the relay: embedded DynamoDB, SQS and Parameter Store with the
 * tables and queues of serverless.yml, and the event source between the queues and the functions. Any
 * other command it leaves alone.
 */
export default class LocalPlugin {
  readonly hooks: Record<string, () => Promise<void> | void>

  constructor(serverless: Serverless, _options: unknown, { log }: { log: Log }) {
    let settings: Settings
    let embedded: Promise<Embedded> | undefined
    let sources: EventSource[] = []
    let serve: () => Promise<void>

    const start = async () => {
      const { ports } = settings
      await assertFree(ports, ['relay', 'lambda', 'dynamodb', 'sqs', 'ssm'])
      const service = readService(serverless.service)
      const { region, stage } = service.provider
      const resources = service.resources.Resources
      const stackName = `${service.service}-${stage}`
      const resolve = resolver({ resources, region, stackName, sqsPort: ports.sqs })
      const environments = resolveEnvironments(service, resolve)
      replaceAwsVariables(process.env, awsEnvironment(ports, region))
      serverless.service.provider.environment = environments.provider
      for (const [key, lambda] of Object.entries(serverless.service.functions)) {
        lambda.environment = environments.functions[key]
      }
      const { startEmbedded } = await import('./embedded.ts')
      const starting = startEmbedded({ settings, region, resources, resolve })
      // Its failure is met where it is awaited; until then the functions are built beside it.
      starting.catch(() => undefined)
      embedded = starting
      serve = () => serveFrom(starting, service, resolve)
    }

    const serveFrom = async (starting: Promise<Embedded>, service: Service, resolve: Resolve) => {
      const { ports } = settings
      const { startEventSources } = await import('./event-sources.ts')
      const { warm } = await import('./warm.ts')
      limitConcurrency(gatewayOf(serverless.pluginManager.plugins))
      const { sqs } = await starting
      const onError = (error: unknown) => log.error(error instanceof Error ? error.message : String(error))
      sources = startEventSources({ service, resolve, ports, sqs, onError })
      await warm(service, ports)
      log.notice(
        [
          `DynamoDB ${urlOf(ports.dynamodb)}`,
          `SQS ${urlOf(ports.sqs)}`,
          `Parameter Store ${urlOf(ports.ssm)}`,
          `data in ${settings.dataDir}`,
        ].join(', '),
      )
      process.send?.({ ready: true })
    }

    const stop = async () => {
      await within(STOP_MS, Promise.all(sources.map(source => source.stop())))
      await (await embedded)?.close()
    }

    const offline = (hook: () => Promise<void>) => async () => {
      try {
        await hook()
      } catch (error) {
        await stop().catch(() => undefined)
        if (!(error instanceof Error)) throw error
        throw new serverless.classes.Error(error.message, 'LOCAL_STACK')
      }
    }

    this.hooks = {
      initialize: () => {
        if (serverless.processedInput.commands[0] !== 'offline') return
        settings = settingsFrom(process.env)
        const build = relative(serverless.serviceDir, join(settings.dataDir, 'build'))
        const { esbuild } = serverless.service.custom
        // Beside the data, so that stacks side by side, or a deployment meanwhile, build each their own.
        esbuild.outputWorkFolder = build
        if (!settings.watch) esbuild.watch = { pattern: [] }
      },
      // `offline` ends its process before any hook could stop what was started; `offline start` does not.
      'before:offline:start': () =>
        serverless.pluginManager.spawn('offline:start', { terminateLifecycleAfterExecution: true }),
      'before:offline:start:init': offline(start),
      'after:offline:start:init': offline(() => serve()),
      'before:offline:start:end': stop,
    }
  }
}
