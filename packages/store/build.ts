import { execFileSync } from 'node:child_process'

/** Compiles each source to JavaScript with its types. */
export const build = (dist: string): void => {
  execFileSync('tsc', ['-p', import.meta.dirname, '--outDir', dist], { stdio: 'inherit' })
}
