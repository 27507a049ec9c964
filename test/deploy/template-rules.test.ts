import { expect, test } from '@jest/globals'
import { foreignFiles, violations } from './template-rules.ts'

const sound = () => {
  const queue = {
    Type: 'AWS::SQS::Queue',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      QueueName: 'order-relay-production-orders.fifo',
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 1209600,
      VisibilityTimeout: 180,
      RedrivePolicy: {},
    },
  }
  const allow = (Action: string[], Resource: unknown[]) => ({ Effect: 'Allow', Action, Resource })
  return {
    Outputs: {},
    Resources: {
      OrdersQueue: queue,
      OrdersQueueTlsOnly: { Type: 'AWS::SQS::QueuePolicy', Properties: { Queues: [{ Ref: 'OrdersQueue' }] } },
      OrdersTable: {
        Type: 'AWS::DynamoDB::Table',
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: { DeletionProtectionEnabled: true },
      },
      Worker: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Role: { 'Fn::GetAtt': ['WorkerRole', 'Arn'] },
          Timeout: 30,
          LoggingConfig: { LogFormat: 'JSON' },
          Environment: { Variables: { SECRETS_PATH: '/order-relay/production' } as Record<string, string> },
        },
      },
      WorkerRole: {
        Type: 'AWS::IAM::Role',
        Properties: {
          Policies: [
            {
              PolicyDocument: {
                Statement: [
                  allow(['sqs:SendMessage'], [{ 'Fn::GetAtt': ['OrdersQueue', 'Arn'] }]),
                  allow(['xray:PutTraceSegments'], ['*']),
                ],
              },
            },
          ],
        },
      },
      Source: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          EventSourceArn: { 'Fn::GetAtt': ['OrdersQueue', 'Arn'] },
          FunctionName: { 'Fn::GetAtt': ['Worker', 'Arn'] },
          ScalingConfig: { MaximumConcurrency: 5 },
        },
      },
      HttpApiRouteDefault: { Type: 'AWS::ApiGatewayV2::Route', Properties: { RouteKey: '$default' } },
      HttpApiRoutePostWebhook: {
        Type: 'AWS::ApiGatewayV2::Route',
        Properties: { RouteKey: 'POST /webhook' },
      },
      HttpApiStage: {
        Type: 'AWS::ApiGatewayV2::Stage',
        DependsOn: ['HttpApiRouteDefault', 'HttpApiRoutePostWebhook'],
        Properties: {
          RouteSettings: {
            'POST /webhook': { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
            $default: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 },
          } as Record<string, object>,
        },
      },
    },
  }
}

type Template = ReturnType<typeof sound>

const found = (change: (template: Template) => void) => {
  const template = sound()
  change(template)
  return violations(JSON.stringify(template), {}, 10)
}

const statements = ({ Resources }: Template) =>
  Resources.WorkerRole.Properties.Policies[0]?.PolicyDocument.Statement ?? []

test('a sound template has no violations', () => {
  expect(found(() => undefined)).toEqual([])
})

test.each<[string, (template: Template) => void, RegExp]>([
  [
    'a permission on every resource',
    template => statements(template).push({ Effect: 'Allow', Action: ['sqs:SendMessage'], Resource: ['*'] }),
    /name the resources/,
  ],
  [
    'a permission for every action',
    template => statements(template).push({ Effect: 'Allow', Action: ['sqs:*'], Resource: ['x'] }),
    /name the actions/,
  ],
  [
    'a secret in an environment',
    ({ Resources }) => {
      Resources.Worker.Properties.Environment.Variables.WEBHOOK_SECRET = 'x'
    },
    /WEBHOOK_SECRET/,
  ],
  [
    'a log that is not JSON',
    ({ Resources }) => Object.assign(Resources.Worker.Properties, { LoggingConfig: { LogFormat: 'Text' } }),
    /does not log in JSON/,
  ],
  [
    'a role that all functions share',
    ({ Resources }) =>
      Object.assign(Resources, {
        IamRoleLambdaExecution: { Type: 'AWS::IAM::Role', Properties: { Policies: [] } },
      }),
    /shared role/,
  ],
  [
    'a visibility timeout that is too short',
    ({ Resources }) => Object.assign(Resources.OrdersQueue.Properties, { VisibilityTimeout: 60 }),
    /less than six times 30 s/,
  ],
  [
    'orders that are deleted with the stack',
    ({ Resources }) => Object.assign(Resources.OrdersTable, { DeletionPolicy: 'Delete' }),
    /orders could be deleted/,
  ],
  [
    'a queue without encryption',
    ({ Resources }) => Object.assign(Resources.OrdersQueue.Properties, { SqsManagedSseEnabled: false }),
    /not encrypted/,
  ],
  [
    'a queue without TLS',
    ({ Resources }) => Object.assign(Resources.OrdersQueueTlsOnly.Properties, { Queues: [] }),
    /requires TLS/,
  ],
  [
    'queues that use up the executions of a new account',
    ({ Resources }) => {
      Resources.Source.Properties.ScalingConfig.MaximumConcurrency = 10
    },
    /10 of the account's 10 executions/,
  ],
  [
    'a route without limits',
    ({ Resources }) => {
      delete Resources.HttpApiStage.Properties.RouteSettings['POST /webhook']
    },
    /POST \/webhook has no limits/,
  ],
  [
    'a stage that is created before its routes',
    ({ Resources }) => {
      Resources.HttpApiStage.DependsOn = ['HttpApiRoutePostWebhook']
    },
    /before its route HttpApiRouteDefault/,
  ],
  [
    'scanners with the share of the webhook',
    ({ Resources }) => {
      const { RouteSettings } = Resources.HttpApiStage.Properties
      RouteSettings.$default = { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 }
    },
    /scanners/,
  ],
])('%s is found', (_name, change, violation) => {
  const violations = found(change)
  expect(violations).toHaveLength(1)
  expect(violations[0]).toMatch(violation)
})

test('a zip with the code of another function is found', () => {
  const listing = (...files: string[]) =>
    ['File Name   Modified   Size', ...files.map(file => `${file}   2026-01-01 00:00:00   1`)].join('\n')
  expect(foreignFiles('webhook', listing('functions/webhook.mjs'))).toEqual([])
  expect(foreignFiles('webhook', listing('functions/webhook.mjs', 'functions/worker.mjs'))).toHaveLength(1)
  expect(foreignFiles('webhook', listing('functions/worker.mjs'))).toHaveLength(1)
})
