import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

/** What src calls things: the standard terms of the field, and each exported name for one thing. */

const SOURCE = path.resolve(import.meta.dirname, '..', 'src')
const GENERATED = /(?:parser|parser\.terms|\.d)\.ts$/
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts') && !GENERATED.test(name))
  .map(name => ({
    name: name.replaceAll(path.sep, '/'),
    text: readFileSync(path.join(SOURCE, name), 'utf8'),
  }))

/** Parts of exported names and of file names that were words of our own, with the term to use. */
const OLD: Readonly<Record<string, string>> = {
  door: 'endpoint, API or route',
  doors: 'endpoints',
  manner: 'format, presentation',
  manners: 'plugins, by name',
  bookmarks: 'result order cache',
  upkeep: 'lifecycle',
  lots: 'partitions',
  guest: 'untrusted',
  stranger: 'untrusted',
  unheard: 'null report',
  told: 'reported, described',
  tell: 'report, describe',
  teller: 'triple writer',
  visit: 'page context',
  inquiry: 'query service',
  asker: 'executor',
  survey: 'graph statistics',
  surveys: 'statistics files',
  misfit: 'conversion error',
  misfits: 'conversion errors',
  habits: 'lint rules',
  trail: 'tracker',
  soon: 'maybe promise',
  patience: 'timeout',
  gate: 'semaphore',
  road: 'protocol',
  usual: 'default',
  land: 'coastline',
  most: 'max',
  longest: 'max length',
  lend: 'borrow buffer',
  spoilt: 'retry',
}

/** Names that two languages or more export, each for its own syntax: nobody imports both without saying whose. */
const OF_EACH_LANGUAGE: ReadonlySet<string> = new Set([
  'ArithmeticOperator',
  'Expression',
  'MAX_DEPTH',
  'MAX_LENGTH',
  'OrderItem',
  'SelectItem',
  'Span',
  'parseOrderBy',
  'parseSelect',
])

t.test('the words of the field', async t => {
  const found = files.flatMap(({ name, text }) => [
    ...oldWords(path.basename(name, '.ts')).map(word => `${name}: ${word}`),
    ...exportsOf(text).flatMap(exported =>
      oldWords(exported).map(word => `${name}: ${exported} (${OLD[word] ?? ''})`),
    ),
  ])
  t.same(found, [], 'use the term in brackets')
  t.same(oldWords('tellAt'), ['tell'], 'a part of a name is found')
  t.same(oldWords('MOST_ROWS'), ['most'], 'also in capitals')
})

t.test('one exported name, one meaning', async t => {
  const homes = new Map<string, string[]>()
  for (const { name, text } of files)
    for (const exported of exportsOf(text)) homes.set(exported, [...(homes.get(exported) ?? []), name])
  const ambiguous = [...homes]
    .filter(([exported, names]) => names.length > 1 && !isOfLanguages(exported, names))
    .map(([exported, names]) => `${exported}: ${names.join(', ')}`)
  t.same(ambiguous, [], 'name what is different differently')
})

function isOfLanguages(exported: string, names: readonly string[]): boolean {
  return OF_EACH_LANGUAGE.has(exported) && names.every(name => name.startsWith('language/'))
}

/** The parts of a name that are words of the table: of camelCase, CAPITALS or a-file-name. */
function oldWords(name: string): readonly string[] {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_.-]+/)
  return parts.filter(part => Object.hasOwn(OLD, part))
}

function exportsOf(text: string): readonly string[] {
  const declared = /^export (?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm
  return [...text.matchAll(declared)].map(([, name = '']) => name)
}
