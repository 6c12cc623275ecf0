import { spawn } from 'node:child_process'
import type { Test } from 'tap'
import { scriptArguments } from './script.ts'

/** What became of a command line. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Starts a process that runs command lines one after the other with empty input until the test ends, which is much sooner than one
 * process each.
 */
export function commandProcess(t: Pick<Test, 'teardown'>): (line: readonly string[]) => Promise<Outcome> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('LODESTONE_'))
  const child = spawn(process.execPath, scriptArguments('support/run-lines'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: Object.fromEntries(clean),
  })
  t.teardown(() => child.kill())
  const ended = new Promise<never>((_, reject) => {
    child.once('close', code => reject(new Error(`the process of the command lines ended with ${code}`)))
  })
  let last: Promise<unknown> = Promise.race([ended, new Promise(resolve => child.once('spawn', resolve))])
  return line => {
    const outcome = last.then(() => {
      child.send(line)
      return Promise.race([ended, new Promise<Outcome>(resolve => child.once('message', resolve))])
    })
    last = outcome
    return outcome
  }
}
