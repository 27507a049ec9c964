/** What a deployment is made of, beyond what follows from its stage's name. */
export type Deployment = {
  webhookUrl: string
  /** Base URL of the stores' API. */
  apiUrl: string
  accountingUrl: string
  /** By the names of serverless.yml. `timeout` in seconds. */
  functions: Readonly<Record<string, { name: string; timeout: number }>>
}
