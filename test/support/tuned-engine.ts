import { writeSync } from 'node:fs'
import { tuneEngine } from '../../src/runtime/engine-flags.ts'

/** Tunes the engine of this process, and says in the trace of the engine when it begins and ends. */
const held: unknown[] = []
for (let i = 0; i < Number(process.argv[2]); i++) held.push({ text: `x${i}`, call: () => i })
writeSync(1, 'before\n')
tuneEngine()
writeSync(1, 'after\n')
