import { run } from '../../src/cli/lodestone.ts'
import type { Outcome } from './command-lines.ts'

/** Runs the command lines that its argument lists, one after the other, and prints what became of them. */
const outcomes: Outcome[] = []
for (const line of JSON.parse(process.argv[2] ?? '[]') as string[][]) outcomes.push(await outcomeOf(line))
process.exitCode = 0
process.stdout.write(JSON.stringify(outcomes))

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
