// Checks the types of every project, also after one has failed, so that one run reports all errors.
import { spawnSync } from 'node:child_process'

const PROJECTS = ['.', 'packages/sandbox/src/panel', 'packages/operator/console/pages', 'packages/store']

for (const project of PROJECTS) {
  const args = ['node_modules/typescript/bin/tsc', '--noEmit', '-p', project]
  if (spawnSync(process.execPath, args, { stdio: 'inherit' }).status !== 0) process.exitCode = 1
}
