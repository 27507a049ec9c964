import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { Lambda } from '@aws-sdk/client-lambda'
import { SQS } from '@aws-sdk/client-sqs'
import { SSM } from '@aws-sdk/client-ssm'
import { DEFAULT_REGION, DEFAULT_STAGE, secretsPath, stackName } from '@order-relay/deploy/cloudformation.ts'
import { readStores } from '@order-relay/deploy/stores.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { credentialsIn, isServedByOther } from '@order-relay/local/credentials.ts'
import { keptStores } from '@order-relay/local/kept-stores.ts'
import { settingsFrom, settingsOfStack, urlOf } from '@order-relay/local/settings.ts'
import { cannot, Failure, messageOf, START_LOCAL, usageError } from './errors.ts'
import type { SharedOptions } from './options.ts'
import { parameterStore } from './parameters.ts'
import { awsStack, localStack, ROOT } from './stack.ts'
import type { Terminal } from './terminal.ts'

const STORES = join(ROOT, 'stores.yml')

/**
 * The stores of stores.yml; while it has errors, those that the local relay keeps.
 *
 * @param kept reads the stores of the running relay, if it is local
 */
const readOwn = (kept: () => readonly Store[] | undefined) => {
  try {
    return { all: readStores(STORES) }
  } catch (error) {
    return { all: kept(), error }
  }
}

/** Creates a value on first use. */
const once = <Made extends object>(make: () => Made) => {
  let made: Made | undefined
  return (): Made => {
    made ??= make()
    return made
  }
}

/**
 * Connects to the relay selected by the options.
 *
 * @throws Failure if they contradict each other
 */
export const createContext = ({ stage, region: given, ...flagged }: SharedOptions, terminal: Terminal) => {
  const { local, json, verbose } = { local: false, json: false, verbose: false, ...flagged }
  if (local && stage !== undefined) {
    const remedy = 'omit one of them'
    throw usageError('use --local with --stage', `the local stack has no stage "${stage}"`, remedy)
  }
  const { environment } = terminal
  const { ports, dataDir } = local ? settingsOfStack(environment) : settingsFrom(environment)
  const region = given ?? environment.AWS_REGION ?? DEFAULT_REGION
  const target = { stage: local ? 'local' : (stage ?? DEFAULT_STAGE), region }
  const service = stackName(target.stage)
  const prefix = local ? '' : `${service}-`
  const credentials = (port: number) => async () => {
    const found = await credentialsIn(dataDir)().catch(error => {
      const missing = `there are no credentials in ${dataDir}`
      throw cannot('reach the local stack', missing, START_LOCAL, error)
    })
    if (!(await isServedByOther(dataDir, port))) return found
    const served = `another user's program serves port ${port}`
    throw cannot('reach the local stack', served, 'end that program, or start the stack on other ports')
  }
  const clientOptions = (port: number) => ({
    region,
    ...(local && { endpoint: urlOf(port), credentials: credentials(port), maxAttempts: 1 }),
  })

  const dynamodb = new DynamoDB(clientOptions(ports.dynamodb))
  const sqs = new SQS(clientOptions(ports.sqs))
  const ssm = new SSM(clientOptions(ports.ssm))
  const lambda = new Lambda(clientOptions(ports.lambda))
  const opened: { destroy: () => void }[] = [dynamodb, sqs, ssm, lambda]
  type Opens<Client> = new (options: { region: string }) => Client
  /** A client that only some commands need, only on AWS, and whose package is slow to load. */
  const lazily = <Client extends { destroy: () => void }>(load: () => Promise<Opens<Client>>) =>
    once(async () => {
      const client = new (await load())({ region })
      opened.push(client)
      return client
    })
  const aws = {
    cloudFormation: lazily(async () => (await import('@aws-sdk/client-cloudformation')).CloudFormation),
    cloudWatch: lazily(async () => (await import('@aws-sdk/client-cloudwatch')).CloudWatch),
    logs: lazily(async () => (await import('@aws-sdk/client-cloudwatch-logs')).CloudWatchLogs),
    sns: lazily(async () => (await import('@aws-sdk/client-sns')).SNS),
    sts: lazily(async () => (await import('@aws-sdk/client-sts')).STS),
  }
  const path = secretsPath(target.stage)
  let read: ({ mtimeMs: number } & ReturnType<typeof readOwn>) | undefined
  const ownStores = () => {
    const mtimeMs = statSync(STORES, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (read?.mtimeMs !== mtimeMs)
      read = { mtimeMs, ...readOwn(() => (local ? keptStores(dataDir) : undefined)) }
    return read
  }
  const queueUrls = new Map<string, Promise<string>>()

  const flags = [
    ...(local ? ['--local'] : []),
    ...(stage === undefined ? [] : [`--stage ${stage}`]),
    ...(given === undefined || local ? [] : [`--region ${given}`]),
  ]

  return {
    terminal,
    json,
    verbose,
    local,
    ...target,
    /** The name of the stack, and of the service in its metrics: `order-relay-<stage>`. */
    service,
    /** The relay's name in a sentence. */
    title: local ? 'the local stack' : `stage "${target.stage}" in ${region}`,
    /** The options that select this relay, to be appended to commands in messages. */
    flags: flags.map(flag => ` ${flag}`).join(''),
    /** The full name of a queue or table. */
    nameOf: (resource: string): string => prefix + resource,
    /** Such as `/order-relay/production`. */
    secretsPath: path,
    dynamodb,
    sqs,
    lambda,
    aws,
    parameters: parameterStore(ssm, path),
    /** The parameters of another stack, such as a connector. */
    parametersAt: (other: string) => parameterStore(ssm, other),
    /** The URL of a queue, by its name without the prefix of the stack. */
    queueUrl: (queue: string): Promise<string> => {
      const url =
        queueUrls.get(queue) ??
        sqs.getQueueUrl({ QueueName: prefix + queue }).then(({ QueueUrl = '' }) => QueueUrl)
      queueUrls.set(queue, url)
      // The local stack creates the queue of a new store.
      url.catch(() => queueUrls.delete(queue))
      return url
    },
    stack: once(async () => (local ? localStack(ports) : awsStack(await aws.cloudFormation(), service))),
    /**
     * The stores in this checkout's stores.yml. The console reads the file again after a change.
     *
     * @throws Failure with the errors of the file, unless the local relay keeps its stores
     */
    stores: (): readonly Store[] => {
      const { all, error } = ownStores()
      if (all === undefined) throw new Failure(messageOf(error), { cause: error })
      return all
    },
    /** The errors in stores.yml, and the stores that the local relay keeps meanwhile. */
    storesProblem: () => {
      const { all, error } = local ? ownStores() : {}
      if (all === undefined || error === undefined) return undefined
      return { error: messageOf(error), kept: all }
    },
    /** Directory of the local stack's data and logs. */
    dataDir,
    /** Default address of the console. */
    consolePort: ports.console,
    close: () => {
      for (const client of opened) client.destroy()
    },
  }
}

/** The context of a command: one relay, on AWS or on this machine, and the terminal. */
export type Context = ReturnType<typeof createContext>

type Stores = Pick<Context, 'stores'> & Partial<Pick<Context, 'storesProblem'>>

const unknownStore = ({ stores, storesProblem }: Stores, source: string, remedy: string) => {
  const known = stores()
    .map(each => `"${each.source}"`)
    .join(', ')
  const found = storesProblem?.() === undefined ? `stores.yml has ${known}` : `the local relay has ${known}`
  return cannot(`find the store "${source}"`, found, remedy)
}

const find = ({ stores }: Stores, source: string) => stores().find(store => store.source === source)

/** @throws Failure when stores.yml has no such store */
export const storeNamed = (context: Stores & Pick<Context, 'local'>, source: string): Store => {
  const store = find(context, source)
  if (store !== undefined) return store
  // `npm start` applies changes of the file itself.
  throw unknownStore(
    context,
    source,
    context.local ? 'check the name, or add it there' : 'check the name, or add it there and deploy',
  )
}

/**
 * Rejects a misspelled `--source`: nothing was found, and stores.yml has no such store. A removed store may have left data.
 *
 * @throws Failure
 */
export const assertFound = (context: Stores, source: string | undefined, found: number): void => {
  if (found > 0 || source === undefined || find(context, source) !== undefined) return
  throw unknownStore(context, source, 'check the name')
}

export const unknownOrder = (action: string, { source, external_id }: OrderKey, { flags }: Context) => {
  const found = `the relay has no order "${external_id}" of "${source}"`
  return cannot(`${action} the order`, found, `see relay orders list${flags}`)
}
