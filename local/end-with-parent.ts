/**
 * Loaded before a child of the stack (`node --import`): when its parent is gone, in whatever way, the child
 * stops as it would for SIGTERM, and is ended if it does not.
 */
const GRACE_MS = 10_000

process.on('disconnect', () => {
  setTimeout(() => process.exit(1), GRACE_MS).unref()
  process.kill(process.pid, 'SIGTERM')
})
// Listening alone would keep a child alive that has nothing left to do.
process.channel?.unref()
