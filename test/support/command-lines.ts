import { spawn } from 'node:child_process'
import { scriptArguments } from './script.ts'

/** What became of a command line. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs command lines one after the other in one process with empty input, which is much sooner than one process each. */
export function runCommandLines(lines: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('LODESTONE_'))
  const child = spawn(process.execPath, [...scriptArguments('support/run-lines'), JSON.stringify(lines)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: Object.fromEntries(clean),
  })
  let text = ''
  child.stdout.on('data', piece => {
    text += String(piece)
  })
  return new Promise((resolve, reject) => {
    child.once('close', code => {
      if (code === 0) resolve(JSON.parse(text) as readonly Outcome[])
      else reject(new Error(`the process of the command lines ended with ${code}`))
    })
  })
}
