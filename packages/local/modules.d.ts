declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** DynamoDB on LevelDB, see its readme. */
  export default function dynalite(options: {
    /** Directory of the database; in memory without it. */
    path?: string
    /** How long a new table remains CREATING, in milliseconds. @default 500 */
    createTableMs?: number
  }): Server
}

declare module 'serverless-offline/lambda' {
  export type LambdaFunction = {
    setEvent: (event: unknown) => void
    setClientContext: (context: unknown) => void
    runHandler: () => Promise<unknown>
    /** Terminates its thread. The replacement in packages/local/gateway.ts has none. */
    cleanup?: () => Promise<void>
  }

  /** The functions of serverless-offline, by their keys in serverless.yml. */
  export default class Lambda {
    get(key: string): LambdaFunction
  }
}
