import { execFileSync } from 'node:child_process'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '..')

function cruise(...args: readonly string[]): { readonly output: string; readonly violations: number } {
  const command = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe' } as const
    const output = execFileSync(process.execPath, [command, ...args, '--config', '.dependency-cruiser.cjs'], options)
    return { output, violations: 0 }
  } catch (error) {
    const { stdout, status } = error as { readonly stdout: string; readonly status: number }
    return { output: stdout, violations: status }
  }
}

t.test('no import goes against the rooms', async t => {
  const { output, violations } = cruise('src')
  t.equal(violations, 0, output)
  t.match(output, /no dependency violations found \((\d{3,}) modules/, 'the sources were read')
})
