#!/usr/bin/env node
import { existsSync } from 'node:fs'

// The build writes the second one last.
if (
  !['cli/lodestone.js', 'land.json'].every(name => existsSync(new URL(`../dist/${name}`, import.meta.url)))
) {
  console.error('lodestone is not built yet, or not to the end: run "npm run build" first')
  process.exit(1)
}
const { run } = await import('../dist/cli/lodestone.js')
process.exitCode = await run(process.argv.slice(2))
