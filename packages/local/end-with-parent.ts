/**
 * Preloaded into a child of the stack (`node --import`): when its parent has exited for any reason, the child
 * receives SIGTERM, and exits if it does not stop in time.
 */
const GRACE_MS = 10_000

process.on('disconnect', () => {
  setTimeout(() => process.exit(1), GRACE_MS).unref()
  process.kill(process.pid, 'SIGTERM')
})
// The listener must not keep an otherwise finished child alive.
process.channel?.unref()
