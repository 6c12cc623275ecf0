import t from 'tap'
import type { Diagnostic } from '../src/mapping/diagnostic.ts'
import { validateMapping } from '../src/mapping/validate.ts'
import { readYarrrml } from '../src/mapping/yarrrml/read.ts'
import { field } from '../src/model/field.ts'

/** Good mappings broken in every line in the ways in which people break them: each is told, in the line that was changed. */
const base = 'http://portal.example'
const fields = [
  ...['name', 'birth_cty', 'birth_prv', 'era', 'notes', 'image', 'url', 'code'].map(name =>
    field(name, 'text'),
  ),
  field('birth', 'date'),
  field('death', 'datetime'),
  field('reign', 'int'),
  field('height', 'double'),
  field('alive', 'boolean'),
]

const GOOD: readonly string[] = [
  `prefixes:
  ex: http://example.org/vocabulary#
mappings:
  person:
    subject: http://portal.example/ld/resources/emperors/person/$(name)
    predicateobjects:
      - [a, foaf:Person]
      - [rdfs:label, $(name), en~lang]
      - [ex:era, $(era)]
      - [schema:birthDate, $(birth), xsd:date]
      - [schema:height, $(height), xsd:double]
      - [schema:birthPlace, city]
      - [schema:url, $(url)~iri]
      - [schema:publisher, Wikipedia]
  city:
    subject: http://portal.example/ld/resources/emperors/city/$(birth_cty)
    predicateobjects:
      - [a, schema:City]
      - [rdfs:label, $(birth_cty)]
      - [schema:containedInPlace, province]
  province:
    subject: http://portal.example/ld/resources/emperors/province/$(birth_prv)
    predicateobjects:
      - [a, schema:AdministrativeArea]
      - [rdfs:label, "$(birth_prv)"]
`,
  `prefixes:
  dbo: "http://dbpedia.org/ontology/"
mappings:
  field-city:
    source: dataset-source
    s: portal:emperors/Place/$(birth_cty)
    po:
      - [a, 'http://schema.org/Place']
      - ['http://www.w3.org/2000/01/rdf-schema#label', $(birth_cty)]
  field-name:
    s: portal:emperors/Person/$(name)
    po:
      - predicates: a
        objects: [schema:Person, dbo:Royalty]
      - predicates: [foaf:name, rdfs:label]
        objects:
          - value: $(name)
            language: fr
      - p: schema:birthDate
        o:
          value: $(birth)
          datatype: xsd:date
      - predicates: schema:birthPlace
        objects:
          mapping: field-city
      - p: schema:image
        o: {value: $(image), type: iri}
      - [schema:description, "$(notes)", 'la~lang']
sources:
  dataset-source: [emperors@public.json~jsonpath, '$.[*].fields']
`,
  `mappings:
  match:
    predicateobjects:
    - [a, 'http://dbpedia.org/ontology/Event']
    - ['http://www.w3.org/2000/01/rdf-schema#label', $(name)-$(era)]
    - ['http://purl.org/dc/terms/date', $(death), 'http://www.w3.org/2001/XMLSchema#dateTime']
    - ['http://purl.org/dc/terms/extent', $(reign), 'http://www.w3.org/2001/XMLSchema#integer']
    - ['http://purl.org/dc/terms/isPartOf', round]
    subject: http://portal.example/ld/resources/emperors/match/$(name)-$(era)
  round:
    predicateobjects:
    - [a, 'http://dbpedia.org/ontology/Event']
    - ['http://www.w3.org/2000/01/rdf-schema#label', $(era)]
    - ['http://purl.org/dc/terms/hasPart', match]
    subject: http://portal.example/ld/resources/emperors/round/$(era)
`,
]

type Change = (line: string) => string
const KEY = /^(\s*(?:- )?)([\w-]{3,})(:(?:\s|$))/
const CURIE = /\b(\w{2,}):(?=[A-Za-z])/
const REFERENCE = /\$\((\w+)\)/
const swapped = (word: string) => {
  const at = Math.floor(word.length / 2) - 1
  return `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`
}
const CHANGES: Readonly<Record<string, Change>> = {
  'a list is not closed': line => line.replace(/\](?=[^\]]*$)/, ''),
  'a list is not opened': line => line.replace(/- \[/, '- '),
  'a comma is missing': line => line.replace(/, /, ' '),
  'a reference is not closed': line => line.replace(')', ''),
  'a reference has no parenthesis': line => line.replace('$(', '$'),
  'a reference has no dollar': line => line.replace('$(', '('),
  'a reference in braces': line => line.replace(REFERENCE, '{$1}'),
  'a reference is empty': line => line.replace(REFERENCE, '$()'),
  'a reference has a comma': line => line.replace(REFERENCE, '$($1, x)'),
  'a misspelt field': line => line.replace(REFERENCE, (_, name) => `$(${swapped(name)})`),
  'a field in capitals': line => line.replace(REFERENCE, (_, name) => `$(${name.toUpperCase()})`),
  'an unknown field': line => line.replace(REFERENCE, '$(nothing_such)'),
  'a quote is missing at first': line => line.replace(/['"]/, ''),
  'a quote is missing at last': line => line.replace(/['"](?=[^'"]*$)/, ''),
  'a colon is missing': line => line.replace(KEY, '$1$2 '),
  'a misspelt key': line => line.replace(KEY, (_, head, key, tail) => `${head}${swapped(key)}${tail}`),
  'a key in capitals': line =>
    line.replace(KEY, (_, head, key, tail) => `${head}${key.toUpperCase()}${tail}`),
  'a tab': line => line.replace(/^ {2,4}/, '\t'),
  'a dash is missing': line => line.replace(/^(\s*)- \[/, '$1['),
  'no space after a dash': line => line.replace(/^(\s*)- \[/, '$1-['),
  'one column to the right': line => line.replace(/^(\s*- )/, ' $1'),
  'two columns to the left': line => line.replace(/^ {2}(\s*- )/, '$1'),
  'a key one column to the right': line => line.replace(/^(\s*)(subject|predicateobjects|s|po|p):/, '$1 $2:'),
  twice: line => (/- \[/.test(line) || KEY.test(line) ? `${line}\n${line}` : line),
  'a misspelt prefix': line => line.replace(CURIE, (_, prefix) => `${swapped(prefix)}:`),
  'an unknown prefix': line => line.replace(CURIE, 'nope:'),
  'no prefix': line => line.replace(CURIE, ''),
  'a semicolon after a prefix': line => line.replace(CURIE, '$1;'),
  'a misspelt scheme': line => line.replace('http:', 'htp:'),
  'one slash': line => line.replace('http://', 'http:/'),
  'no colon in the scheme': line => line.replace('http://', 'http//'),
  'no scheme': line => line.replace('http://', ''),
  https: line => line.replace(/http:(?=\/\/(www|dbpedia|purl|schema))/, 'https:'),
  'a space in an IRI': line => line.replace(/(http:\/\/\w+)/, '$1.x/a b'),
  'an invalid escape in an IRI': line => line.replace(/(http:\/\/[^\s'"#$]+\/)/, '$1%zz'),
  'a misspelt namespace': line => line.replace(/(http:\/\/[^\s'"]*)rdf-schema/, '$1rdf-shema'),
  'a language in words': line => line.replace(/\w+~lang/, 'english~lang'),
  'a language with an underscore': line => line.replace(/\w+~lang/, 'en_US~lang'),
  'a language that is none': line => line.replace(/\w+~lang/, 'xx~lang'),
  'a misspelt suffix': line => line.replace(/~lang/, '~lng').replace(/~iri/, '~ir'),
  'a language without suffix': line => line.replace(/~lang/, ''),
  'a misspelt datatype': line =>
    line.replace(/(xsd:|XMLSchema#)(\w+)/, (_, head, name) => head + swapped(name)),
  'another datatype': line => line.replace(/(xsd:|XMLSchema#)\w+/, '$1boolean'),
  'datatype and language': line => line.replace(/(, [^,]+)\]$/, '$1, xsd:string, en~lang]'),
  'a third element too many': line => line.replace(/^(\s*- \[.*)\]$/, '$1, x, y]'),
  'a misspelt link': line =>
    line.replace(/, (city|province|round|match)\]/, (_, key) => `, ${swapped(key)}]`),
  'an unknown link': line => line.replace(/mapping: .*/, 'mapping: nothing'),
  'another predicate for a': line => line.replace('[a,', '[is,'),
  'a class in lower case': line =>
    line.replace(/(\[a, (?:schema|foaf):)(\w)/, (_, head, first) => head + first.toLowerCase()),
  'one element': line => line.replace(/^(\s*- \[[^,]+),.*$/, '$1]'),
  'an empty value': line => line.replace(/^(\s*(?:- )?[\w-]+: )\S.*$/, '$1'),
  'a comment cuts it': line => line.replace(/^(\s*- \[.*, )/, '$1#'),
  'a map in a list': line => line.replace(/^(\s*- \[.*)\]$/, '$1: x]'),
}

/** Changes that mean the same, or nothing wrong: names of mappings and sources are free. */
const FREE = /^\s*(ex|dbo|person|field-name|match|round|prefixes|sources):/
const isHarmless = (change: string, line: string) =>
  (FREE.test(line) && /misspelt key|capitals$/.test(change) && !/^(prefixes|sources)/.test(line)) ||
  (change === 'twice' && /^\s*- value/.test(line)) ||
  (change === 'https' && !/http:\/\/(www|purl|schema|dbpedia)/.test(line))

function check(text: string): readonly Diagnostic[] {
  const { mapping, diagnostics } = readYarrrml(text, { prefixes: { portal: `${base}/ld/resources/` } })
  return mapping === null
    ? diagnostics
    : [...diagnostics, ...validateMapping(mapping, { id: 'emperors', base, fields })]
}

const QUIET = ['field-unused', 'sources-ignored', 'label-missing', 'class-missing', 'mapping-isolated']

t.test('a broken mapping is told in the line that is broken', async t => {
  let changed = 0
  for (const good of GOOD) {
    const before = check(good)
    t.same(
      before.filter(({ code }) => !QUIET.includes(code)),
      [],
      'a good mapping has nothing to tell',
    )
    const known = new Set(before.map(({ message, place }) => `${message} ${place.line}`))
    const lines = good.split('\n')
    for (const [index, line] of lines.entries())
      for (const [name, change] of Object.entries(CHANGES)) {
        const broken = change(line)
        if (broken === line || isHarmless(name, line)) continue
        changed += 1
        const found = check([...lines.slice(0, index), broken, ...lines.slice(index + 1)].join('\n'))
        const fresh = found.filter(({ message, place }) => !known.has(`${message} ${place.line}`))
        const last = index + broken.split('\n').length
        const described = fresh.some(({ place }) => place.line > index && place.line <= last)
        if (!described)
          t.fail(`${name}: ${broken}`, { found: fresh.map(({ code, place }) => `${code} ${place.line}`) })
      }
  }
  t.ok(changed > 700, `${changed} changes`)
})

t.test('hostile documents do no harm', async t => {
  const po = (...lines: readonly string[]) =>
    `mappings:\n  a:\n    s: http://e.org/$(name)\n    po:\n${lines.map(line => `      - ${line}\n`).join('')}`
  const many = (length: number, line: (index: number) => string) =>
    Array.from({ length }, (_, index) => line(index))
  const rows: readonly [string, string, string][] = [
    ['brackets', `mappings: ${'['.repeat(100_000)}`, 'limits'],
    ['braces', '{'.repeat(100_000), 'limits'],
    ['dashes', '- '.repeat(100_000), 'limits'],
    ['indentation', many(300, index => `${' '.repeat(index)}a:`).join('\n'), 'limits'],
    ['size', 'x'.repeat(300_000), 'yaml-too-big'],
    [
      'aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${many(11, index => `${'bcdefghijkl'[index]}: &${'bcdefghijkl'[index]} [${Array(9).fill(`*${'abcdefghijk'[index]}`).join(',')}]`).join('\n')}`,
      'alias-bomb',
    ],
    ['a cycle', 'mappings: &m\n  a: *m\n', 'alias-bomb'],
    [
      'mappings',
      `mappings:\n${many(300, index => `  a${index}: {s: "http://e.org/$(a)", po: [[a, foaf:Person]]}`).join('\n')}`,
      'limits',
    ],
    ['rules', po(...many(2100, index => `[foaf:name, $(f${index})]`)), 'limits'],
    [
      'a product of lists',
      po(`{p: [${Array(3000).fill('foaf:name')}], o: [${Array(3000).fill('x')}]}`),
      'limits',
    ],
    [
      'a product of subjects',
      po(...many(1000, () => '[foaf:knows, a]')).replace(
        's: http://e.org/$(name)',
        `s: [${Array(100).fill('http://e.org/$(name)')}]`,
      ),
      'limits',
    ],
    ['references', po(`[foaf:name, "${'$(name)'.repeat(100)}"]`), 'limits'],
    ['a template', po(`[foaf:name, ${'x'.repeat(20_000)}]`), 'limits'],
    [
      'code in a reference',
      po('[foaf:name, "$(constructor.constructor(process.exit(1))())"]'),
      'reference-unknown-field',
    ],
    [
      'names of prototypes',
      po('[constructor, $(__proto__)]', '[foaf:name, $(toString)]'),
      'predicate-not-iri',
    ],
    ['a prefix of prototypes', po('[__proto__:x, $(name)]'), 'prefix-unknown'],
    ['a tag', 'mappings: !!js/function "x"\n', 'unsupported'],
    ['two documents', 'a: b\n---\nc: d\n', 'yaml-syntax'],
  ]
  for (const [what, text, code] of rows) {
    const begun = performance.now()
    const codes = check(text).map(found => found.code)
    t.match(codes.includes(code as Diagnostic['code']), true, `${what}: ${codes.slice(0, 3)}`)
    t.ok(performance.now() - begun < 20_000, `${what} takes no long time`)
  }
})
