import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds between two looks at a process. */
const LOOK = 20
/** Clock ticks of Linux in a second. */
const TICKS = 100

/**
 * Runs a program to its end. Gives seconds of the whole process; seconds of processor time, which tell more on a busy
 * machine; the peak of the memory of it and its children together in MB; and what it printed on both streams. Throws
 * where it fails, or takes longer than `limit` seconds.
 */
export function run([command, ...args], { cwd, limit }) {
  const begun = performance.now()
  const child = spawn(command, args, { cwd, detached: true })
  let peak = 0
  let cpu = 0
  let printed = ''
  const look = setInterval(() => {
    const now = usage(child.pid)
    peak = Math.max(peak, now.memory)
    cpu = Math.max(cpu, now.cpu)
  }, LOOK)
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limit * 1000)
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      printed = (printed + text).slice(-20_000)
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearInterval(look)
      clearTimeout(timer)
      const seconds = (performance.now() - begun) / 1000
      if (code === 0) resolve({ seconds, cpu, peak, printed })
      else if (signal === 'SIGKILL') reject(new Error(`no end after ${limit} s, ${peak.toFixed(0)} MB`))
      else reject(new Error(`ended with ${code ?? signal}: ${printed.trim().slice(-300)}`))
    })
  })
}

/** Memory in MB and seconds of processor time of a process and its children. */
function usage(pid) {
  const sum = { memory: 0, cpu: 0 }
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0
    sum.memory = Number(kilobytes) / 1000
    // The fields after the name, which may hold blanks: user, system, and those of children that ended.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    for (const ticks of stat.slice(11, 15)) sum.cpu += Number(ticks) / TICKS
    for (const thread of readdirSync(`/proc/${pid}/task`))
      for (const child of readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ')) {
        if (child === '') continue
        const { memory, cpu } = usage(child)
        sum.memory += memory
        sum.cpu += cpu
      }
  } catch {
    // The process ended meanwhile.
  }
  return sum
}
