import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

type Process = { pid: number; parent: number; isAlive: boolean; command: string }

const fromProc = async (): Promise<Process[]> => {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const read = async (pid: string): Promise<Process[]> => {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    const [, state = '', parent = ''] = /\) (\S) (\d+) /s.exec(stat) ?? []
    return [{ pid: Number(pid), parent: Number(parent), isAlive: state !== 'Z', command }]
  }
  return (await Promise.all(pids.map(pid => read(pid).catch(() => [])))).flat()
}

const fromPs = async (): Promise<Process[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat=,command='])
  return stdout.split('\n').flatMap(line => {
    const [, pid, parent, state = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), isAlive: !state.startsWith('Z'), command }]
  })
}

/** The processes of this machine; zombies are not alive. */
const processes = () => (process.platform === 'linux' ? fromProc() : fromPs())

/** A process and its descendants. */
export const familyOf = async (pid: number): Promise<Process[]> => {
  const all = await processes()
  const family = all.filter(candidate => candidate.pid === pid)
  for (const member of family) family.push(...all.filter(({ parent }) => parent === member.pid))
  return family
}

/** The processes that are still alive. */
export const alive = async (family: readonly Process[]): Promise<Process[]> => {
  const all = await processes()
  return family.filter(({ pid, command }) =>
    all.some(candidate => candidate.pid === pid && candidate.isAlive && candidate.command === command),
  )
}
