import { join, relative } from 'node:path'
import { onNpmGone } from './ancestors.ts'
import { type Build, buildFunctions } from './build.ts'
import { replaceAwsVariables } from './functions-environment.ts'
import { gatewayOf } from './gateway.ts'
import { assertFree } from './ports.ts'
import type { Relay } from './relay.ts'
import { readService } from './service.ts'
import { settingsFrom, urlOf } from './settings.ts'

type Values = Record<string, unknown>

/** What this plugin uses of osls. */
type Serverless = {
  serviceDir: string
  pluginManager: {
    plugins: readonly unknown[]
    spawn: (command: string, options: { terminateLifecycleAfterExecution?: boolean }) => Promise<void>
  }
  service: {
    provider: Values
    functions: Record<string, Values>
    custom: { esbuild: unknown; 'serverless-offline': Values }
  }
}
type Log = { notice: (text: string) => void; error: (text: string) => void }

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/**
 * Makes `serverless offline` the whole of the relay: embedded DynamoDB, SQS and Parameter Store with the
 * tables and queues of serverless.yml, and the event source between the queues and the functions.
 */
export default class LocalPlugin {
  readonly hooks: Record<string, () => Promise<void> | void>

  constructor(serverless: Serverless, _options: unknown, { log }: { log: Log }) {
    const { service, serviceDir, pluginManager } = serverless
    let relay: Relay | undefined
    let building: Promise<Build> | undefined

    const start = async () => {
      const settings = settingsFrom(process.env)
      // A start.ts above tells by its channel that it is gone; npx has none.
      if (process.send === undefined) await onNpmGone(() => process.kill(process.pid, 'SIGTERM'))
      await assertFree(settings.ports, ['relay', 'lambda', 'dynamodb', 'sqs', 'ssm'])
      const read = readService(service)
      // Only now: the AWS SDK takes a while to load, and a taken port is told at once.
      const { startRelay } = await import('./relay.ts')
      const onError = (error: unknown) => log.error(messageOf(error))
      relay = await startRelay({ service: read, settings, onError })
      const { esbuild, 'serverless-offline': offline } = service.custom
      // Beside the data, so that stacks side by side, or a deployment meanwhile, build each their own.
      const outdir = join(settings.dataDir, 'build')
      offline.location = relative(serviceDir, outdir)
      building = buildFunctions({
        serviceDir,
        esbuild,
        handlers: Object.values(read.functions).map(({ handler }) => handler),
        outdir,
        onRebuilt: settings.watch ? () => pluginManager.spawn('offline:functionsUpdated', {}) : undefined,
      })
      // Its failure, as that of the relay's parts, is met where it is awaited.
      building.catch(() => undefined)
      relay.stores.then(
        () => process.send?.({ reached: 'stores' }),
        () => undefined,
      )
      replaceAwsVariables(process.env, relay.aws)
      service.provider.environment = relay.environments.provider
      for (const [key, lambda] of Object.entries(service.functions)) {
        lambda.environment = relay.environments.functions[key]
      }
    }

    const serve = async () => {
      await building
      await relay?.serve(gatewayOf(pluginManager.plugins))
      const { ports, dataDir } = settingsFrom(process.env)
      log.notice(
        `DynamoDB ${urlOf(ports.dynamodb)}, SQS ${urlOf(ports.sqs)}, ` +
          `Parameter Store ${urlOf(ports.ssm)}, data in ${dataDir}`,
      )
      process.send?.({ reached: 'functions' })
    }

    const stop = async () => {
      await relay?.stop()
      await building?.then(
        build => build.close(),
        () => undefined,
      )
      // Left to the end of the process, esbuild's own ends with a complaint.
      const { stop: stopEsbuild } = await import('esbuild')
      await stopEsbuild()
    }

    /** serverless-offline's servers would outlive an error thrown here. */
    const orEnd = (hook: () => Promise<void>) => async () => {
      try {
        await hook()
      } catch (error) {
        log.error(messageOf(error))
        await stop()
        process.exit(1)
      }
    }

    this.hooks = {
      // `offline` ends its process before any hook could stop what was started; `offline start` does not.
      'before:offline:start': () =>
        pluginManager.spawn('offline:start', { terminateLifecycleAfterExecution: true }),
      'before:offline:start:init': orEnd(start),
      'after:offline:start:init': orEnd(serve),
      'before:offline:start:end': stop,
      // New code ends the threads of the old, whatever they hold.
      'before:offline:functionsUpdated:cleanup': async () => relay?.pause(),
      'after:offline:functionsUpdated:cleanup': () => relay?.resume(),
    }
  }
}
