import {
  DeleteParameterCommand,
  PutParameterCommand,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import { singleParameter } from '../../lib/platform/parameters.ts'

/** The SecureString parameters of a stack, by their names relative to its path. */
export const parameterStore = (ssm: SSMClient, path: string) => {
  return {
    /** All parameters below a folder such as `webhook/secrets`, sorted by name. */
    async below(folder: string) {
      const from = `${path}/${folder}`
      const query = { Path: from, Recursive: true, WithDecryption: true }
      const found: { name: string; value: string; modified: Date }[] = []
      for await (const { Parameters = [] } of paginateGetParametersByPath({ client: ssm }, query)) {
        for (const { Name, Value, LastModifiedDate: modified = new Date(0) } of Parameters) {
          if (Name === undefined || Value === undefined) continue
          found.push({ name: Name.slice(from.length + 1), value: Value, modified })
        }
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    get: async (name: string): Promise<string | undefined> =>
      (await singleParameter(ssm, path, name)())[name],

    /** Creates or overwrites a parameter; one of more than 4 KB costs five cents a month. */
    async put(name: string, value: string): Promise<void> {
      const parameter = {
        ...{ Name: `${path}/${name}`, Value: value },
        ...({ Type: 'SecureString', Tier: 'Intelligent-Tiering' } as const),
      }
      await ssm.send(new PutParameterCommand({ ...parameter, Overwrite: true }))
    },

    /** Deletes a parameter; one that does not exist is not an error. */
    async remove(name: string): Promise<void> {
      await ssm.send(new DeleteParameterCommand({ Name: `${path}/${name}` })).catch(error => {
        if (!(error instanceof Error) || error.name !== 'ParameterNotFound') throw error
      })
    },
  }
}
