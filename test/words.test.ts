import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** What src calls things: the standard terms of the field, and each exported name for one thing. */

const ROOT = path.resolve(import.meta.dirname, '..')
const SOURCE = path.join(ROOT, 'src')
const GENERATED = /(?:parser|parser\.terms|\.d)\.ts$/
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts') && !GENERATED.test(name))
  .map(name => ({
    name: name.replaceAll(path.sep, '/'),
    text: readFileSync(path.join(SOURCE, name), 'utf8'),
  }))

const documents = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => path.join('docs', name)),
]

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

/** Words of our own that no declaration has any more, exported or not, with the term to use. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  door: 'endpoint, API or route',
  doors: 'endpoints',
  guest: 'untrusted',
  guests: 'untrusted',
  kept: 'cached, stored, retained, or what it is that a filter selects',
  manner: 'format, presentation',
  manners: 'plugins, parameters',
  spoilt: 'retry',
  stranger: 'untrusted',
  strangers: 'untrusted',
  told: 'reported, described',
}

/** Members whose names are part of a format that others read: events of publications, in JSON. */
const OF_FORMATS: ReadonlySet<string> = new Set(['kept'])
const WITH_FORMATS = /^(?:publishing\/mapping\/choose-mapping|cli\/mapping-report)\.ts$/

/** Words of our own in comments and documents. */
const OLD_PHRASES = /\b(?:doors?|strangers?|guests?|unless told(?! not)|told apart)\b/gi

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

t.test('the words of the field in all names', async t => {
  const any = new RegExp(Object.keys(OLD_NAMES).join('|'), 'i')
  const suspects = files.filter(({ text }) => any.test(text))
  const found = suspects.flatMap(({ name, text }) =>
    declaredIn(text).flatMap(declared =>
      partsOf(declared)
        .filter(part => Object.hasOwn(OLD_NAMES, part))
        .filter(part => !(OF_FORMATS.has(part) && WITH_FORMATS.test(name)))
        .map(part => `${name}: ${declared} (${OLD_NAMES[part] ?? ''})`),
    ),
  )
  t.same(found, [], 'use the term in brackets')
  const sample = 'interface A { readonly kept?: B }\nfunction f(told: C) { const { door: b } = x }'
  t.same(declaredIn(sample), ['A', 'kept', 'f', 'told', 'b'], 'members, parameters and variables are found')
})

t.test('the words of the field in comments and documents', async t => {
  const found = [
    ...files.map(({ name, text }) => ({ name, text: commentsOf(text) })),
    ...documents.map(name => ({ name, text: readFileSync(path.join(ROOT, name), 'utf8') })),
  ].flatMap(({ name, text }) =>
    [...text.matchAll(OLD_PHRASES)]
      .filter(([word]) => !(name === 'CHANGELOG.md' && word === 'door'))
      .map(([word]) => `${name}: ${word}`),
  )
  t.same(found, [], 'endpoint or API, untrusted query, by default, distinguished')
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
  return partsOf(name).filter(part => Object.hasOwn(OLD, part))
}

function partsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_.-]+/)
}

/** All names that a file declares: types, functions, members, parameters and variables. */
function declaredIn(text: string): readonly string[] {
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const { name } = node as { readonly name?: ts.Node }
    const isUse = ts.isPropertyAccessExpression(node) || ts.isPropertyAssignment(node)
    if (name !== undefined && !isUse && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)))
      names.push(name.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('words.ts', text, ts.ScriptTarget.Latest))
  return names
}

/** The comments of a file, line by line: what stands behind code on its line is left out, for texts may look like it. */
function commentsOf(text: string): string {
  const lines = text.split('\n').filter(line => /^\s*(?:\/\*|\*|\/\/)/.test(line))
  return lines.join('\n')
}

function exportsOf(text: string): readonly string[] {
  const declared = /^export (?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm
  return [...text.matchAll(declared)].map(([, name = '']) => name)
}
