import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { lookup, setMember } from '../src/model/lookup.ts'
import { openIndexes } from './support/indexing.ts'

/** No object is indexed by a name that may come from outside: see openIndexes. */
const root = path.resolve(import.meta.dirname, '..')

t.test('the sources ask for own members alone', { timeout: 300_000 }, async t => {
  const found = openIndexes(root)
  t.same(found, [], 'src/model/lookup.ts has lookup and setMember for names that may be any text')
})

t.test('every form of it is found', async t => {
  const wrong = [
    'TABLE[name]',
    'TABLE?.[name]',
    'TABLE[name as keyof typeof TABLE]',
    'TABLE[(name as unknown) as keyof typeof TABLE]',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    'record[`${name}.x`]',
    'record[name.toLowerCase()]',
    'record[maybe!]',
    'record[generic]',
    'name in TABLE',
    'delete record[name]',
    '(record[name] = 1)',
    'list[name as never]',
    '(({ [name]: value }) => value)(record)',
  ]
  const right = [
    'TABLE[known]',
    'TABLE.a',
    "'a' in record",
    'list[2]',
    'list[list.length - 1]',
    'record[7]',
    '({ [name]: 1 })',
    'lookup(TABLE, name)',
  ]
  const folder = path.join(root, 'test', `.indexing-${process.pid}`)
  const file = path.join(folder, 'sample.ts')
  mkdirSync(folder)
  t.teardown(() => rmSync(folder, { recursive: true }))
  const lines = [
    "import { lookup } from '../../src/model/lookup.ts'",
    'const TABLE = { a: 1, b: 2 }',
    'export function sample<Generic extends string>(name: string, maybe: string | undefined, generic: Generic, known: keyof typeof TABLE, record: Record<string, number>, list: number[]) {',
    '  return [',
    ...[...wrong, ...right].map(each => `    ${each},`),
    '  ]',
    '}',
  ]
  writeFileSync(file, lines.join('\n'))
  const places = openIndexes(root, [file]).map(({ line }) => lines[line - 1]?.trim().replace(/,$/, ''))
  t.same([...new Set(places)], wrong)
})

t.test('members have any name', async t => {
  const made: Record<string, number> = {}
  for (const name of ['__proto__', 'constructor', 'a']) {
    t.equal(lookup(made, name), undefined, name)
    setMember(made, name, 1)
    t.equal(lookup(made, name), 1, name)
  }
  t.equal(JSON.stringify(made), '{"__proto__":1,"constructor":1,"a":1}')
  t.equal(lookup({}, 'toString'), undefined)
})
