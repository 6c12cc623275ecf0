import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Milliseconds after which what a process of another machine has not changed is that of a dead one. */
const SILENCE = 3_600_000

/** What process ids are unique in until the next boot: of containers, each is process 1 in its own. */
const MACHINE = createHash('sha256')
  .update(
    [
      hostname(),
      read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
      read(() => readlinkSync('/proc/self/ns/pid')),
    ].join(' '),
  )
  .digest('hex')
  .slice(0, 8)

/** The name of this process in files of a folder that processes of several machines share. */
export const PROCESS_NAME = processName(process.pid)

/** The name of a process of this machine: nobody else has it, whatever is started later or elsewhere. */
export function processName(pid: number): string {
  return `${MACHINE}.${pid}.${startOf(pid)}`
}

/**
 * True for the name of a running process, within a name of a file. One of another machine counts as running if it changed something
 * within the last hour.
 *
 * @param modified time of the last change of what it works on, in milliseconds since 1970
 */
export function isOfRunningProcess(name: string, modified: number): boolean {
  const [, machine, pid, start] = /([0-9a-f]{8})\.(\d+)\.(\d+)/.exec(name) ?? []
  if (machine !== MACHINE) return machine !== undefined && Date.now() - modified < SILENCE
  return isProcessRunning(Number(pid)) && [start, '0'].includes(startOf(Number(pid)))
}

/** True if a process with this id runs on this machine, whoever it belongs to. */
export function isProcessRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The time of the start of a process, in ticks of the kernel; 0 where it is not known (proc(5), stat). */
function startOf(pid: number): string {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function read(text: () => string): string {
  try {
    return text()
  } catch {
    return ''
  }
}
