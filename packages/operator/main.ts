import { runRelay } from './program.ts'

const { stdin, stdout, stderr, env: environment } = process

// A reader such as `head` may close the pipe early.
stdout.on('error', error => {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  throw error
})

process.exitCode = await runRelay(process.argv.slice(2), { stdin, stdout, stderr, environment })
