import { alarmResources } from './alarms.ts'
import { ref, type Stack, secretsPath, sub } from './cloudformation.ts'
import { dashboardResources } from './dashboard.ts'
import * as queues from './queues.ts'
import { roleResources } from './roles.ts'
import { readStores } from './stores.ts'
import { TABLE_IDS, tableResources, tablesOf } from './tables.ts'

/** What osls passes to a function that provides a value of serverless.yml. */
type Context = { resolveVariable: (name: string) => Promise<string | number> }

const isOffline = () => process.argv.includes('offline')

/** `serverless offline` without --stage is the local stack, any other command production. */
export const stage = (): string => (isOffline() ? 'local' : 'production')

/** Neither command needs the other's plugins, and loading them takes longer than everything else. */
export const plugins = (): string[] =>
  isOffline() ? ['./local/plugin.ts', 'serverless-offline'] : ['./deploy/package.ts']

/** Evaluated only when nothing else sets the URL. */
export const accountingUrl = async ({ resolveVariable }: Context): Promise<string> => {
  if ((await resolveVariable('sls:stage')) === 'local') return ''
  const error = new Error(
    'Cannot deploy: the base URL of the accounting service is not set; ' +
      'set ACCOUNTING_URL, such as ACCOUNTING_URL=https://accounting.example, or add --param="accountingUrl=..."',
  )
  // osls shows the stack in place of the message.
  error.stack = error.message
  throw error
}

export const feederEvents = () => queues.feederEvents({ stores: readStores('stores.yml') })

const outputs = (stack: Stack) => {
  const output = (Description: string, Value: unknown) => ({ Description, Value })
  return {
    WebhookUrl: output(
      'Webhook URL to register with the accounting service',
      sub(`\${HttpApi.ApiEndpoint}/webhook`),
    ),
    ApiUrl: output('Base URL of the stores’ API', { 'Fn::GetAtt': ['HttpApi', 'ApiEndpoint'] }),
    OrdersQueueUrl: output('Order queue', ref(queues.QUEUE_IDS.orders)),
    OrdersDeadQueueUrl: output('Dead letters of the order queue', ref(queues.QUEUE_IDS.ordersDead)),
    QuarantineQueueUrl: output('Authentic input that cannot be read', ref(queues.QUEUE_IDS.quarantine)),
    OrdersTableName: output('State of every order', ref(TABLE_IDS.orders)),
    DeliveriesTableName: output('Deliveries that were queued', ref(TABLE_IDS.deliveries)),
    SecretsPath: output('Parameter Store path of the secrets', secretsPath(stack.stage)),
    DashboardUrl: output(
      'CloudWatch dashboard',
      sub(
        `https://\${AWS::Region}.console.aws.amazon.com/cloudwatch/home?region=\${AWS::Region}#dashboards:name=\${Dashboard}`,
      ),
    ),
    AlarmTopicArn: output('Topic that alarms are sent to', ref('AlarmTopic')),
    ...Object.fromEntries(
      stack.stores.map(({ source }) => {
        const id = queues.feedQueueId(source)
        return [`${id}Url`, output(`Feed of the store ${source}`, ref(id))]
      }),
    ),
  }
}

/** The CloudFormation resources beside the functions, and the stack's outputs. */
export const resources = async ({ resolveVariable }: Context) => {
  const [name, prefix, email, rate, burst] = await Promise.all(
    ['sls:stage', 'param:prefix', 'param:alarmEmail', 'param:requestsPerSecond', 'param:requestsAtOnce'].map(
      resolveVariable,
    ),
  )
  const stack = { stage: String(name), prefix: String(prefix), stores: readStores('stores.yml') }
  return {
    Resources: {
      ...tableResources(tablesOf(stack)),
      ...queues.queueResources(queues.queuesOf(stack)),
      ...roleResources(stack),
      ...alarmResources(stack, String(email)),
      ...dashboardResources(stack),
    },
    Outputs: outputs(stack),
    extensions: {
      // Far above what an accounting service sends; it bounds the cost of a flood.
      HttpApiStage: {
        Properties: {
          DefaultRouteSettings: {
            ThrottlingRateLimit: rate,
            ThrottlingBurstLimit: burst,
            DetailedMetricsEnabled: false,
          },
        },
      },
    },
  }
}
