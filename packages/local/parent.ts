import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const INTERVAL_MS = 500

type Process = { name: string; parent: number }

/** Parses `<pid> (<name>) <state> <parent> ...`; the name may contain anything. */
const fromStat = (stat: string): Process | undefined => {
  const match = /^\d+ \((.*)\) \S (\d+) /s.exec(stat)
  return match === null ? undefined : { name: match[1] ?? '', parent: Number(match[2]) }
}

const fromPs = (line: string): Process | undefined => {
  const match = /^\s*(\d+)\s+(.+?)\s*$/.exec(line)
  return match === null ? undefined : { name: match[2] ?? '', parent: Number(match[1]) }
}

/** A running process, from `/proc` on Linux and from `ps` elsewhere. */
const processOf = async (pid: number): Promise<Process | undefined> => {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/stat`, 'utf8').then(fromStat, () => undefined)
  }
  const ps = promisify(execFile)
  return ps('ps', ['-o', 'ppid=,comm=', '-p', String(pid)]).then(
    ({ stdout }) => fromPs(stdout),
    () => undefined,
  )
}

const isShell = (name: string) => /(?:^|\/)-?(?:sh|dash|bash|zsh|ash|ksh)$/.test(name)

/**
 * Calls `exited` once when the npm process that runs this one has exited, even if it was killed. npm runs scripts
 * through a shell, which survives npm (dash does not replace itself), so the shell's parent is watched as well.
 *
 * Without npm, nothing is watched: a process may outlive the shell that started it.
 */
export const onNpmExit = async (exited: () => void): Promise<void> => {
  if (process.env.npm_execpath === undefined) return
  const { ppid } = process
  const shell = await processOf(ppid)
  const watched = shell !== undefined && isShell(shell.name) ? shell.parent : undefined

  const timer = setInterval(async () => {
    const orphaned =
      process.ppid !== ppid || (watched !== undefined && (await processOf(ppid))?.parent !== watched)
    if (!orphaned) return
    clearInterval(timer)
    exited()
  }, INTERVAL_MS)
  timer.unref()
}
