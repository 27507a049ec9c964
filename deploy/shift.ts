import { METRICS_NAMESPACE } from '../lib/platform/names.ts'
import type { Metric } from '../lib/platform/telemetry.ts'
import { alarmWith } from './alarm-resources.ts'
import { alarmName, shiftAlarm } from './alarms.ts'
import {
  allow,
  arn,
  arnOf,
  nestedStack,
  pascal,
  type Resource,
  type Resources,
  ref,
  roleOf,
  type Stack,
  stackName,
} from './cloudformation.ts'
import { positive, statisticOf } from './math-alarms.ts'

/** The alias through which a function is invoked. */
const ALIAS = 'live'

/**
 * The functions with gradual deployments, each with the metric of its failures. `reconcile` is excluded
 * because it runs only twice in a shift of ten minutes.
 */
const FAILURES = {
  webhook: 'DeliveryFailed',
  api: 'RequestFailed',
  worker: 'EventRetried',
  feeder: 'FeedRetried',
} as const satisfies Record<string, Metric>
type Shifted = keyof typeof FAILURES
const SHIFTED = Object.keys(FAILURES) as Shifted[]

/** The alarms of the gradual deployments, which roll them back. */
export const shiftAlarms = SHIFTED.map(shiftAlarm)

/** The parameter of the nested stack with a function's new version. */
const versionOf = (name: string) => `${pascal(name)}Version`

/** Fewer failures than this may be chance. */
const MIN_FAILURES = 3
/** The failures per invocation of a new version that are tolerated in addition to twice the old version's. */
const TOLERANCE = 0.05

/** A difference must exceed four standard errors; this is the square of four. */
const SIGNIFICANT = 16

/**
 * Compares the new version's failing invocations with the old version's in the same five minutes. Failures of the
 * accounting service, a store or AWS affect both, but during an outage, the few invocations of the new version may
 * fail more often by chance. The failures must exceed the expected number by four standard errors; the standard error is
 * the square root of that number. Nothing is compared while only one version is invoked. The formulas multiply instead of
 * dividing: CloudWatch returns no value for a division by zero.
 */
const judgement = (service: string, name: Shifted) => {
  const FunctionName = `${service}-${name}`
  const alias = { FunctionName, Resource: `${FunctionName}:${ALIAS}` }
  const version = ref(versionOf(name))
  const newest = { ...alias, ExecutedVersion: version }
  const math = (Id: string, Expression: string) => ({ Id, Expression, ReturnData: false })
  const mayFail = `new_calls * (2 * old_failed + ${TOLERANCE} * old_calls)`
  const isWorse = `new_failed * old_calls > ${mayFail}`
  const isSignificant = `excess * excess > ${SIGNIFICANT} * new_calls * old_failed * old_calls`
  const condition = `IF(new_failed >= ${MIN_FAILURES} AND ${isWorse} AND ${isSignificant}, 1, 0)`
  // Counts invocations, since one cause can fail every event of a batch.
  const once = { Stat: 'SampleCount' } as const
  return positive(condition, [
    math('new_failed', 'FILL(new_errors, 0) + FILL(new_failures, 0)'),
    math('old_failed', 'FILL(all_errors, 0) + FILL(all_failures, 0) - new_failed'),
    math('new_calls', 'FILL(new_invocations, 0)'),
    math('old_calls', 'FILL(all_invocations, 0) - new_calls'),
    math('excess', 'new_failed * old_calls - new_calls * old_failed'),
    statisticOf('new_errors', ['AWS/Lambda', 'Errors', newest]),
    statisticOf('new_failures', [METRICS_NAMESPACE, FAILURES[name], { service, version }], once),
    statisticOf('new_invocations', ['AWS/Lambda', 'Invocations', newest]),
    statisticOf('all_errors', ['AWS/Lambda', 'Errors', alias]),
    statisticOf('all_failures', [METRICS_NAMESPACE, FAILURES[name], { service }], once),
    statisticOf('all_invocations', ['AWS/Lambda', 'Invocations', alias]),
  ])
}

const NONE = 'none'

/** `none`, or the name of a CodeDeploy configuration for Lambda. `AllAtOnce` watches no alarm. */
export const SHIFTS = [
  NONE,
  'AllAtOnce',
  ...['5', '10', '15', '30'].map(minutes => `Canary10Percent${minutes}Minutes`),
  ...['1Minute', '2Minutes', '3Minutes', '10Minutes'].map(every => `Linear10PercentEvery${every}`),
]

export const isGradual = (shift: string): boolean => shift !== NONE

export const aliasId = (name: string): string => `${pascal(name)}LiveAlias`

/** The CodeDeploy resources, in a nested stack because the main stack is close to its resource limit. */
export const shiftResources = ({ stage }: Pick<Stack, 'stage'>, shift: string): Resources => {
  if (!isGradual(shift)) return {}
  const service = stackName(stage)
  const functions = (qualifier: string) =>
    SHIFTED.map(name => arn('lambda', `function:${service}-${name}${qualifier}`))
  const group = (name: Shifted): Resource => ({
    Type: 'AWS::CodeDeploy::DeploymentGroup',
    DependsOn: [`${pascal(name)}NewVersionAlarm`],
    Properties: {
      ApplicationName: ref('Application'),
      DeploymentGroupName: name,
      ServiceRoleArn: arnOf('ShiftRole'),
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
      DeploymentConfigName: `CodeDeployDefault.Lambda${shift}`,
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      },
      AlarmConfiguration: {
        Enabled: shift !== 'AllAtOnce',
        Alarms: [{ Name: alarmName(service, shiftAlarm(name)) }],
      },
    },
  })
  const role = roleOf(
    'codedeploy',
    'Permissions of CodeDeploy to shift the functions of order-relay to new versions',
    [
      allow(['lambda:GetAlias', 'lambda:UpdateAlias'], functions('')),
      allow(['lambda:GetProvisionedConcurrencyConfig'], functions(':*')),
      allow(
        ['cloudwatch:DescribeAlarms'],
        SHIFTED.map(name => arn('cloudwatch', `alarm:${alarmName(service, shiftAlarm(name))}`)),
      ),
    ],
  )
  const application = {
    Type: 'AWS::CodeDeploy::Application',
    Properties: { ApplicationName: ref('Service'), ComputePlatform: 'Lambda' },
  }
  const groups = SHIFTED.map(name => [`${pascal(name)}Group`, group(name)] as const)
  const alarms = SHIFTED.map(
    name =>
      [
        `${pascal(name)}NewVersionAlarm`,
        alarmWith(service, shiftAlarm(name), judgement(service, name)),
      ] as const,
  )
  // Placeholders: osls has not compiled the versions yet, and `watchVersions` sets them.
  const versions = Object.fromEntries(SHIFTED.map(name => [versionOf(name), '']))
  return nestedStack('Shift', { Service: service, AlarmTopic: ref('AlarmTopic'), ...versions }, [
    ['Application', application],
    ['ShiftRole', role],
    ...alarms,
    ...groups,
  ])
}

/** The number of a version. */
const numberOf = (versionLogicalId: string) => ({ 'Fn::GetAtt': [versionLogicalId, 'Version'] })

/** The properties of a function that osls reads and sets. */
export type Versioned = {
  versionFunction?: boolean
  /** The alias that osls sets as the target of the function's triggers. */
  targetAlias?: { name: string; logicalId: string }
  /** The resource of the function's new version, whose id is a hash of code and configuration. */
  versionLogicalId?: string
}

/** Makes osls publish versions and send events to the aliases. */
export const prepareShift = (functions: Record<string, Versioned>) => {
  for (const name of SHIFTED)
    Object.assign(functions[name] ?? {}, {
      versionFunction: true,
      targetAlias: { name: ALIAS, logicalId: aliasId(name) },
    })
}

/**
 * Adds the aliases after osls has compiled the new versions. An old version is deleted with its resource once the
 * alias no longer points to it; osls would retain every version.
 */
export const addAliases = (
  template: { Resources: Record<string, object>; Outputs?: Record<string, unknown> },
  functions: Readonly<Record<string, Versioned>>,
  stage: string,
) => {
  for (const name of SHIFTED) {
    const version = functions[name]?.versionLogicalId ?? ''
    Object.assign(template.Resources[version] ?? {}, { DeletionPolicy: 'Delete' })
    delete template.Outputs?.[`${pascal(name)}LambdaFunctionQualifiedArn`]
    template.Resources[aliasId(name)] = {
      Type: 'AWS::Lambda::Alias',
      DependsOn: ['Shift'],
      UpdatePolicy: {
        CodeDeployLambdaAliasUpdate: { ApplicationName: stackName(stage), DeploymentGroupName: name },
      },
      Properties: {
        FunctionName: ref(`${pascal(name)}LambdaFunction`),
        FunctionVersion: numberOf(version),
        Name: ALIAS,
      },
    }
  }
}

/**
 * Points the alarms at the new versions. Call it after osls has merged the resources. The aliases depend on the alarms, so a new
 * version is watched before it is invoked.
 */
export const watchVersions = (
  { Resources }: { Resources: Record<string, { Properties: Record<string, unknown> }> },
  functions: Readonly<Record<string, Versioned>>,
) => {
  const { Shift } = Resources
  if (Shift === undefined) return
  const versions = SHIFTED.map(name => [versionOf(name), numberOf(functions[name]?.versionLogicalId ?? '')])
  Shift.Properties.Parameters = { ...Object(Shift.Properties.Parameters), ...Object.fromEntries(versions) }
}
