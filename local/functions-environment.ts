import { devNull } from 'node:os'
import type { Resolve } from './intrinsics.ts'
import type { Service } from './service.ts'
import { type Ports, urlOf } from './settings.ts'

/** Credentials that open nothing. */
export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' }

/** What an AWS SDK needs to reach the embedded parts, and nothing of the developer's own account. */
export const awsEnvironment = (ports: Ports, region: string): Record<string, string> => ({
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
  AWS_ENDPOINT_URL_SQS: urlOf(ports.sqs),
  AWS_ENDPOINT_URL_SSM: urlOf(ports.ssm),
})

/** Replaces every `AWS_` variable of an environment, in place. */
export const replaceAwsVariables = (environment: NodeJS.ProcessEnv, aws: Record<string, string>): void => {
  for (const name of Object.keys(environment)) {
    if (name.startsWith('AWS_')) delete environment[name]
  }
  Object.assign(environment, aws)
}

/** The environments of the provider and of each function, every value resolved to text. */
export const resolveEnvironments = ({ provider, functions }: Service, resolve: Resolve) => {
  const texts = (values: Record<string, unknown>, where: string) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, resolve(value, `${where}.environment.${name}`)]),
    )
  return {
    provider: texts(provider.environment, 'provider'),
    functions: Object.fromEntries(
      Object.entries(functions).map(([key, { environment }]) => [
        key,
        texts(environment, `functions.${key}`),
      ]),
    ),
  }
}
