import { execFileSync } from 'node:child_process'

/** Compiles each source file to JavaScript with type declarations. */
export const build = (dist: string): void => {
  execFileSync('tsc', ['-p', import.meta.dirname, '--outDir', dist], { stdio: 'inherit' })
}
