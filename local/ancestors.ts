import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const INTERVAL_MS = 500

type Parentage = { name: string; parent: number }

/** `<pid> (<name>) <state> <parent> ...`; the name may hold anything. */
const fromStat = (stat: string): Parentage | undefined => {
  const match = /^\d+ \((.*)\) \S (\d+) /s.exec(stat)
  return match === null ? undefined : { name: match[1] ?? '', parent: Number(match[2]) }
}

const fromPs = (line: string): Parentage | undefined => {
  const match = /^\s*(\d+)\s+(.+?)\s*$/.exec(line)
  return match === null ? undefined : { name: match[2] ?? '', parent: Number(match[1]) }
}

/** Name and parent of a process: from `/proc` where there is one, else from `ps`; undefined when it is gone. */
const parentageOf = async (pid: number): Promise<Parentage | undefined> => {
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
 * Calls `gone` once when the npm that runs this process was killed, in whatever way. npm puts a shell
 * between itself and a script, so the shell's parent counts as well.
 *
 * Without npm nothing is watched: a process may well outlive the shell that started it.
 */
export const onNpmGone = async (gone: () => void): Promise<void> => {
  if (process.env.npm_execpath === undefined) return
  const { ppid } = process
  const shell = await parentageOf(ppid)
  const watched = shell !== undefined && isShell(shell.name) ? shell.parent : undefined

  const timer = setInterval(async () => {
    const orphaned =
      process.ppid !== ppid || (watched !== undefined && (await parentageOf(ppid))?.parent !== watched)
    if (!orphaned) return
    clearInterval(timer)
    gone()
  }, INTERVAL_MS)
  timer.unref()
}
