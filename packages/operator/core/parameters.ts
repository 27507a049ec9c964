import type { SSM } from '@aws-sdk/client-ssm'
import { indexOf, indexTexts, singleParameter } from '@order-relay/lib/platform/parameters.ts'

const KIND = { Type: 'SecureString', Tier: 'Intelligent-Tiering' } as const

/** Replaces an error with this name by a value. */
const ignoring =
  <Value>(name: string, value: Value) =>
  (error: unknown): Value => {
    if (error instanceof Error && error.name === name) return value
    throw error
  }

/** The SecureString parameters of a stack, by their names relative to its path. */
export const parameterStore = (ssm: SSM, path: string) => {
  const store = {
    /** All parameters below a folder such as `webhook/secrets`, or of the stack, sorted by name. */
    async below(folder: string) {
      const from = folder === '' ? path : `${path}/${folder}`
      const query = { Path: from, Recursive: true, WithDecryption: true }
      const found: { name: string; value: string; modified: Date }[] = []
      for await (const { Parameters = [] } of ssm.paginateGetParametersByPath(query)) {
        for (const { Name, Value, LastModifiedDate: modified = new Date(0) } of Parameters) {
          if (Name === undefined || Value === undefined) continue
          found.push({ name: Name.slice(from.length + 1), value: Value, modified })
        }
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    get: async (name: string): Promise<string | undefined> =>
      (await singleParameter(ssm, path, name)())[name],

    /** A parameter with its version, which every write increments. */
    async find(name: string) {
      const query = { Name: `${path}/${name}`, WithDecryption: true }
      const found = await ssm.getParameter(query).catch(ignoring('ParameterNotFound', undefined))
      const { Value: value, Version: version = 0, LastModifiedDate: modified } = found?.Parameter ?? {}
      return value === undefined ? undefined : { value, version, modified }
    },

    /** Creates or overwrites a parameter; one of more than 4 KB costs five cents a month. */
    async put(name: string, value: string): Promise<void> {
      await ssm.putParameter({ Name: `${path}/${name}`, Value: value, ...KIND, Overwrite: true })
    },

    /**
     * Creates a parameter, or overwrites one version of it.
     *
     * @returns the new version; undefined if another command wrote the parameter first
     */
    async putFirst(name: string, value: string, replaced = 0): Promise<number | undefined> {
      const { Version } = await ssm
        .putParameter({ Name: `${path}/${name}`, Value: value, ...KIND, Overwrite: replaced > 0 })
        .catch(ignoring('ParameterAlreadyExists', { Version: undefined }))
      return Version === replaced + 1 ? Version : undefined
    },

    /** The texts that the index of a folder should have, and whether it has them. */
    async index(folder: string, without?: string) {
      const [all, stored] = await Promise.all([store.below(folder), store.below(indexOf(folder))])
      const kept = all.filter(({ name }) => name !== without)
      const texts = indexTexts(Object.fromEntries(kept.map(({ name, value }) => [name, value])))
      const held = new Map(stored.map(({ name, value }) => [name, value]))
      const stale = [...texts.entries()].filter(([shard, text]) => held.get(String(shard)) !== text)
      return { exists: stored.length > 0, stale }
    },

    /**
     * Writes the index of a folder, from which the functions read.
     *
     * @param without the name of a parameter that is about to be removed
     */
    async writeIndex(folder: string, without?: string): Promise<void> {
      const { stale } = await store.index(folder, without)
      for (const [shard, text] of stale) await store.put(`${indexOf(folder)}/${shard}`, text)
    },

    /** Deletes a parameter; one that does not exist is not an error. */
    async remove(name: string): Promise<void> {
      await ssm.deleteParameter({ Name: `${path}/${name}` }).catch(ignoring('ParameterNotFound', {}))
    },
  }
  return store
}
