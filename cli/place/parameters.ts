import {
  DeleteParameterCommand,
  PutParameterCommand,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'

type Parameter = { name: string; value: string; modified: Date }

/** Secrets below a path of Parameter Store, by their names from there on. */
export type Parameters = {
  /** All below `folder`, such as `webhook-secrets`, by name. */
  below: (folder: string) => Promise<Parameter[]>
  get: (name: string) => Promise<string | undefined>
  /** Keeps a secret (SecureString), in place of what has the name. */
  put: (name: string, value: string) => Promise<void>
  remove: (name: string) => Promise<void>
}

export const parameterStore = (ssm: SSMClient, path: string): Parameters => {
  const below = async (folder: string): Promise<Parameter[]> => {
    const from = folder === '' ? path : `${path}/${folder}`
    const pages = paginateGetParametersByPath(
      { client: ssm },
      { Path: from, Recursive: true, WithDecryption: true },
    )
    const found: Parameter[] = []
    for await (const { Parameters = [] } of pages) {
      for (const { Name, Value, LastModifiedDate } of Parameters) {
        if (Name === undefined || Value === undefined) continue
        found.push({
          name: Name.slice(from.length + 1),
          value: Value,
          modified: LastModifiedDate ?? new Date(0),
        })
      }
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  return {
    below,
    // Read as the functions read it, so that what is found here is found there.
    get: async name => (await below('')).find(parameter => parameter.name === name)?.value,
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
      await ssm.send(new DeleteParameterCommand({ Name: `${path}/${name}` }))
    },
  }
}
