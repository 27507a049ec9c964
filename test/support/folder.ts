import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'

const folderBetween =
  (before: typeof beforeAll, after: typeof afterAll) =>
  (close: () => unknown = () => undefined) => {
    let path: string
    before(async () => {
      path = await mkdtemp(join(tmpdir(), 'order-relay-'))
    })
    after(async () => {
      await close()
      await rm(path, { recursive: true, force: true })
    })
    return (...names: string[]) => join(path, ...names)
  }

/**
 * A temporary folder for all tests of a file or a block; returns the path of the folder or of a file in it.
 *
 * @param close stops users of the folder before it is deleted
 */
export const useFolder = folderBetween(beforeAll, afterAll)

/** A temporary folder for each test, like {@link useFolder}. */
export const eachWithFolder = folderBetween(beforeEach, afterEach)
