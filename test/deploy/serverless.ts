import { join } from 'node:path'
import { type Ended, runProgram } from '../support/program.ts'
import { ROOT } from '../support/project.ts'

/** Runs `npx serverless …` in a copy of the project. */
export const serverless = (folder: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  runProgram([join(ROOT, 'node_modules/serverless/bin/serverless.js'), ...args], { cwd: folder, env })

/** A program's standard output. @throws with its complete output if the exit code is not 0 */
export const must = async (what: string, running: Promise<Ended>): Promise<string> => {
  const { code, out, output } = await running
  if (code !== 0)
    throw new Error(`${what}\n    expected: exit code 0\n    found:    exit code ${code}\n${output}`)
  return out
}
