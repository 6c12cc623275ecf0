import { execFileSync } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/folder.ts'

const root = path.resolve(import.meta.dirname, '../..')

function cruise(cwd: string): { readonly output: string; readonly violations: number } {
  const command = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  try {
    const options = { cwd, encoding: 'utf8', stdio: 'pipe' } as const
    const rules = path.join(root, '.dependency-cruiser.cjs')
    const output = execFileSync(process.execPath, [command, 'src', '--config', rules], options)
    return { output, violations: 0 }
  } catch (error) {
    const { stdout, status } = error as { readonly stdout: string; readonly status: number }
    return { output: stdout, violations: status }
  }
}

t.test('no import goes against the rooms', async t => {
  const { output, violations } = cruise(root)
  t.equal(violations, 0, output)
  t.match(output, /no dependency violations found \((\d{3,}) modules/, 'the sources were read')
})

t.test('an import against the rooms is found', async t => {
  const wrong = {
    'src/model/field.ts': "export { plan } from '../query/plan.ts'\n",
    'src/query/plan.ts': "export { csv } from '../sources/csv.ts'\nexport const plan = 1\n",
    'src/sources/csv.ts': 'export const csv = 1\n',
    'src/api/explore/a.ts': "export { b } from '../odata/b.ts'\n",
    'src/api/odata/b.ts': 'export const b = 1\n',
  }
  const folder = temporaryFolder(t, {
    'tsconfig.json': '{}',
    src: {
      model: { 'field.ts': wrong['src/model/field.ts'] },
      query: { 'plan.ts': wrong['src/query/plan.ts'] },
      sources: { 'csv.ts': wrong['src/sources/csv.ts'] },
      api: {
        explore: { 'a.ts': wrong['src/api/explore/a.ts'] },
        odata: { 'b.ts': wrong['src/api/odata/b.ts'] },
      },
    },
  })
  const { output, violations } = cruise(folder)
  t.equal(violations, 3, output)
  for (const rule of [
    'layer-0-imports-nothing-above',
    'rooms-of-layer-2-stand-alone',
    'api-rooms-stand-alone',
  ])
    t.match(output, rule)
})
