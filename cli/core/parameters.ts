import {
  DeleteParameterCommand,
  PutParameterCommand,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import { singleParameter } from '../../lib/platform/parameters.ts'

type Parameter = { name: string; value: string; modified: Date }

/** The SecureString parameters of a stack, by their names relative to its path. */
export type ParameterStore = {
  /** All parameters below a folder such as `webhook/secrets`, sorted by name. */
  below: (folder: string) => Promise<Parameter[]>
  get: (name: string) => Promise<string | undefined>
  /** Creates or overwrites a parameter. */
  put: (name: string, value: string) => Promise<void>
  /** Deletes a parameter; one that does not exist is not an error. */
  remove: (name: string) => Promise<void>
}

export const parameterStore = (ssm: SSMClient, path: string): ParameterStore => {
  const below = async (folder: string): Promise<Parameter[]> => {
    const from = `${path}/${folder}`
    const pages = paginateGetParametersByPath(
      { client: ssm },
      { Path: from, Recursive: true, WithDecryption: true },
    )
    const found: Parameter[] = []
    for await (const { Parameters = [] } of pages) {
      for (const { Name, Value, LastModifiedDate: modified = new Date(0) } of Parameters) {
        if (Name === undefined || Value === undefined) continue
        found.push({ name: Name.slice(from.length + 1), value: Value, modified })
      }
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  return {
    below,
    get: async name => (await singleParameter(ssm, path, name)())[name],
    async put(name, value) {
      await ssm.send(
        new PutParameterCommand({
          Name: `${path}/${name}`,
          Value: value,
          Type: 'SecureString',
          Overwrite: true,
        }),
      )
    },
    async remove(name) {
      await ssm.send(new DeleteParameterCommand({ Name: `${path}/${name}` })).catch(error => {
        if (!(error instanceof Error) || error.name !== 'ParameterNotFound') throw error
      })
    },
  }
}
