#!/usr/bin/env node
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../dist/cli/lodestone.js', import.meta.url))) {
  console.error('lodestone is not built yet: run "npm run build" first')
  process.exit(1)
}
const { run } = await import('../dist/cli/lodestone.js')
process.exitCode = await run(process.argv.slice(2))
