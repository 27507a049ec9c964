import { getParameter } from '@aws-lambda-powertools/parameters/ssm'

/** The webhook secret, from Parameter Store, kept for five minutes. */
export const webhookSecret = async (): Promise<string> =>
  (await getParameter(`${process.env.SECRETS_PATH}/webhook-secrets/one`, { decrypt: true, maxAge: 300 })) ??
  ''
