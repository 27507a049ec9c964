import { alarmName } from './alarms.ts'
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

/** The alias through which a function is invoked. */
const ALIAS = 'live'

/**
 * The functions with gradual deployments, each with the alarms that roll a new version back: those that a defect raises
 * within minutes, and that a store, the accounting service or a flood cannot raise. `reconcile` is excluded because it
 * runs only twice in a shift of ten minutes.
 */
const ROLLED_BACK_BY: Readonly<Record<string, readonly string[]>> = {
  webhook: ['webhook-errors', 'deliveries-failed'],
  api: ['api-errors', 'requests-failed'],
  worker: ['worker-errors'],
  feeder: ['feeder-errors'],
}

const NONE = 'none'

/** `none`, or the name of a CodeDeploy configuration for Lambda; `AllAtOnce` is excluded because it watches no alarm. */
export const SHIFTS = [
  ...[NONE, 'AllAtOnce'],
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
    Object.keys(ROLLED_BACK_BY).map(name => arn('lambda', `function:${service}-${name}${qualifier}`))
  const group = (name: string, alarms: readonly string[]): Resource => ({
    Type: 'AWS::CodeDeploy::DeploymentGroup',
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
        // CodeDeploy refuses to deploy while an alarm is raised, even a deployment that fixes the cause.
        Enabled: shift !== 'AllAtOnce',
        Alarms: alarms.map(name => ({ Name: alarmName(service, { name }) })),
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
        Object.values(ROLLED_BACK_BY).flatMap(names =>
          names.map(name => arn('cloudwatch', `alarm:${alarmName(service, { name })}`)),
        ),
      ),
    ],
  )
  const application = {
    Type: 'AWS::CodeDeploy::Application',
    Properties: { ApplicationName: ref('Service'), ComputePlatform: 'Lambda' },
  }
  const groups = Object.entries(ROLLED_BACK_BY).map(
    ([name, alarms]) => [`${pascal(name)}Group`, group(name, alarms)] as const,
  )
  const alarms = new Set(Object.values(ROLLED_BACK_BY).flat())
  return nestedStack(
    'Shift',
    { Service: service },
    [['Application', application], ['ShiftRole', role], ...groups],
    [...alarms].map(name => `${pascal(name)}Alarm`),
  )
}

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
  for (const name of Object.keys(ROLLED_BACK_BY))
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
  for (const name of Object.keys(ROLLED_BACK_BY)) {
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
        FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
        Name: ALIAS,
      },
    }
  }
}
