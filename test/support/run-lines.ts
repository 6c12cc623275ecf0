import { run } from '../../src/cli/lodestone.ts'
import type { Outcome } from './command-lines.ts'

/** Runs each command line that it is sent, and sends what became of it. */
process.on('message', async line => process.send?.(await outcomeOf(line as readonly string[])))

/** Runs one here, and keeps what it writes. */
async function outcomeOf(line: readonly string[]): Promise<Outcome> {
  const described = { stdout: '', stderr: '' }
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (piece: string | Uint8Array, done?: unknown) => {
      described[name] += Buffer.from(piece).toString()
      if (typeof done === 'function') done()
      return true
    }
  try {
    return { code: await run(line), ...described }
  } finally {
    process.stdout.write = writes.stdout
    process.stderr.write = writes.stderr
  }
}
