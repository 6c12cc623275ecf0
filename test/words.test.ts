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

/** Parts of declared names and of file names that were words of our own, with the term to use. */
const OLD: Readonly<Record<string, string>> = {
  asked: 'requested, queried',
  asker: 'executor',
  bookmarks: 'result order cache',
  door: 'endpoint, API or route',
  doors: 'endpoints',
  families: 'grants, kinds',
  family: 'grant, kind',
  figure: 'aggregate, statistic, count',
  figures: 'aggregates, statistics, counts',
  gate: 'semaphore',
  guest: 'untrusted',
  guests: 'untrusted',
  habits: 'lint rules',
  held: 'cached, buffered, loaded',
  inquiry: 'query service',
  kept: 'cached, stored, retained, or what it is that a filter selects',
  land: 'coastline',
  lend: 'borrow buffer',
  longest: 'max length',
  lots: 'partitions',
  manner: 'format, presentation',
  manners: 'plugins, parameters',
  marks: 'literal annotations, states, layers',
  misfit: 'conversion error',
  misfits: 'conversion errors',
  most: 'max',
  patience: 'timeout',
  road: 'protocol',
  says: 'description',
  seen: 'visible, visited, known',
  soon: 'maybe promise',
  spent: 'consumed, elapsed',
  spoilt: 'retry',
  stranger: 'untrusted',
  strangers: 'untrusted',
  survey: 'graph statistics',
  surveys: 'statistics files',
  tell: 'report, describe',
  teller: 'triple writer',
  told: 'reported, described',
  trail: 'tracker',
  unheard: 'null report',
  upkeep: 'lifecycle',
  usual: 'default',
  visit: 'page context',
  wanted: 'required, requested',
}

/** A file without any of the words declares none of them. */
const SUSPECT = new RegExp(Object.keys(OLD).join('|'), 'i')

/** Names that stay: members of formats that others read (JSON of the portal, its reports and files), and plain meanings. */
const STAYING: readonly (readonly [names: RegExp, files: RegExp])[] = [
  // What became of a mapping, in the events of a publication.
  [/^kept$/, /^(?:publishing\/mapping\/mapping-file|cli\/progress)\.ts$/],
  // Values that do not fit, in reports of publications and manifests of versions.
  [
    /^misfits$|^misfitCount$/,
    /^(?:sources\/typing\/typed-records|publishing\/(?:materialise|publish-types|publish|versions\/versions))\.ts$/,
  ],
  // Answers of the completion, and of the description of the API.
  [
    /^says$/,
    /^(?:language\/odsql\/completion|portal\/islands\/modules\/condition-editor|site\/api-console-program)\.ts$/,
  ],
  // The report of readiness, at /readyz.
  [/^wanted$/, /^store\/(?:store|columns\/column-store)\.ts$/],
  // Files that note when an address was requested.
  [/^asked$/, /^(?:harvest|publishing\/remote)\/state\.ts$/],
  // The land of a map, the family of an address.
  [/^land$/, /^api\/resources\/coastline\.ts$/],
  [/^family$/, /^sources\/address\/limits\.ts$/],
  [/^mostFrequent$/, /^catalog\/graph-statistics\.ts$/],
]

/** Words of our own in comments and documents. */
const OLD_PHRASES =
  /\b(?:doors?|strangers?|guests?|unless told(?! not)|told|whence|who asks|whoever asks|addManners|logged[- ](?:in|out)|log(?:s|ging)? out|log-(?:in|out)s?)\b/gi

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
    ...oldWords(path.basename(name, '.ts')).map(word => `${name}: ${word} (${OLD[word] ?? ''})`),
    ...(SUSPECT.test(text) ? declaredIn(text) : [])
      .filter(declared => !STAYING.some(([names, places]) => names.test(declared) && places.test(name)))
      .flatMap(declared => oldWords(declared).map(word => `${name}: ${declared} (${OLD[word] ?? ''})`)),
  ])
  t.same(found, [], 'use the term in brackets')
  t.same(oldWords('tellAt'), ['tell'], 'a part of a name is found')
  t.same(oldWords('MOST_ROWS'), ['most'], 'also in capitals')
  t.same(oldWords('#held'), ['held'], 'also in a private name')
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
    .split(/[\s_.#-]+/)
    .filter(part => part !== '')
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
