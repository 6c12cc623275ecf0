import { spawn } from 'node:child_process'
import { run } from '../../src/cli/lodestone.ts'

/** What became of a command line. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs command lines one after the other in one process with empty input, which is much sooner than one process each. */
export function runCommandLines(lines: readonly (readonly string[])[]): Promise<readonly Outcome[]> {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('LODESTONE_'))
  const child = spawn(process.execPath, ['--import=tsx', import.meta.filename, JSON.stringify(lines)], {
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

/** Runs one here, and keeps what it writes. */
async function outcomeOf(line: readonly string[]): Promise<Outcome> {
  const described = { stdout: '', stderr: '' }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (piece: string | Uint8Array) => {
      described[name] += String(piece)
      return true
    }
  try {
    return { code: await run(line), ...described }
  } finally {
    process.stdout.write = writes.stdout
    process.stderr.write = writes.stderr
  }
}

if (process.argv[1] === import.meta.filename) {
  const outcomes: Outcome[] = []
  for (const line of JSON.parse(process.argv[2] ?? '[]') as string[][]) outcomes.push(await outcomeOf(line))
  process.exitCode = 0
  process.stdout.write(JSON.stringify(outcomes))
}
