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
 * The functions whose versions replace each other gradually, each with the alarms that roll a new version back: those
 * that a defect raises within minutes and a store, the accounting service or a flood does not. Not `reconcile`: within a
 * shift of ten minutes it runs twice.
 */
const ROLLED_BACK_BY: Readonly<Record<string, readonly string[]>> = {
  webhook: ['webhook-errors', 'deliveries-failed'],
  api: ['api-errors', 'requests-failed'],
  worker: ['worker-errors'],
  feeder: ['feeder-errors'],
}

const NONE = 'none'

/** `none`, and the shifts that CodeDeploy has for Lambda, by their names there; `AllAtOnce` watches no alarm. */
export const SHIFTS = [
  ...[NONE, 'AllAtOnce'],
  ...['5', '10', '15', '30'].map(minutes => `Canary10Percent${minutes}Minutes`),
  ...['1Minute', '2Minutes', '3Minutes', '10Minutes'].map(every => `Linear10PercentEvery${every}`),
]

export const isGradual = (shift: string): boolean => shift !== NONE

export const aliasId = (name: string): string => `${pascal(name)}LiveAlias`

/** CodeDeploy's side, in a nested stack: the main one has little room. */
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
        // CodeDeploy refuses to deploy while an alarm is raised, even what would end it.
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
      allow(['cloudwatch:DescribeAlarms'], [arn('cloudwatch', `alarm:${service}-*`)]),
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

/** What osls reads and sets of a function. */
export type Versioned = {
  versionFunction?: boolean
  /** osls directs what invokes the function to this alias. */
  targetAlias?: { name: string; logicalId: string }
  /** The resource of the function's new version, whose id is a hash of code and configuration. */
  versionLogicalId?: string
}

/** Has osls publish versions, and direct events to the aliases. */
export const prepareShift = (functions: Record<string, Versioned>) => {
  for (const name of Object.keys(ROLLED_BACK_BY))
    Object.assign(functions[name] ?? {}, {
      versionFunction: true,
      targetAlias: { name: ALIAS, logicalId: aliasId(name) },
    })
}

/**
 * The aliases of the new versions, once osls has compiled these. A version is deleted with its resource, when the
 * alias has left it: osls would keep every one for ever.
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
