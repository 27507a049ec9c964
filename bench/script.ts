import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs one of the benchmarks that are programs of their own and answers with what it found. */
export const script = async (file: string): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, [file, '--json'])
  return JSON.parse(stdout)
}
