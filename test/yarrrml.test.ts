import t from 'tap'
import {
  type Diagnostic,
  type DiagnosticCode,
  diagnosticText,
  ERRORS,
  placesOf,
  severityOf,
  WARNINGS,
  withoutRepeats,
} from '../src/mapping/diagnostic.ts'
import {
  type LogicalSource,
  type Mapping,
  type ObjectMap,
  type Segment,
  type StatementRule,
  type TermMap,
  usedClasses,
  usedProperties,
} from '../src/mapping/ir.ts'
import { mappingKind, portalPrefixes, readMapping } from '../src/mapping/read.ts'
import { readRml } from '../src/mapping/rml/read.ts'
import { validateMapping } from '../src/mapping/validate.ts'
import { readYarrrml } from '../src/mapping/yarrrml/read.ts'
import type { DatasetStatistics } from '../src/model/dataset.ts'
import { field } from '../src/model/field.ts'
import { RDF } from '../src/rdf/vocab.ts'

/** The reader of YARRRML and the checks of a mapping: documents -> rules, broken documents -> diagnostics in their places. */
const base = 'http://portal.example'
const prefixes = portalPrefixes(base, 'emperors')

/** A mapping in short: one line a rule, `key subject: predicate object`. */
function shown(mapping: Mapping | null): readonly string[] | null {
  return mapping === null
    ? null
    : mapping.resources.flatMap(({ key, subject, statements, graphs, sources }) => [
        `${key} ${term(subject)}${(graphs ?? []).map(graph => ` @${term(graph)}`).join('')}${(sources ?? []).map(source).join('')}`,
        ...statements.map(statement),
      ])
}

function statement({ predicate, object, graphs = [], inverse }: StatementRule): string {
  const name = typeof predicate === 'string' ? predicate : term(predicate)
  return `  ${inverse === true ? '^' : ''}${name === RDF.type ? 'a' : name} ${term(object)}${graphs.map(graph => ` @${term(graph)}`).join('')}`
}

function source({ path, formulation, iterator, dialect }: LogicalSource): string {
  return ` from ${path} ${formulation} ${iterator}${dialect === undefined ? '' : ` ${JSON.stringify(dialect)}`}`
}

function term(map: TermMap | ObjectMap): string {
  switch (map.type) {
    case 'link':
      return `-> ${map.resource}`
    case 'natural':
      return `$${map.field}`
    case 'iri':
      return `<${segments(map.segments)}>${map.base === undefined ? '' : ` on ${map.base}`}`
    case 'blank':
      return `_:${segments(map.segments)}`
    case 'literal': {
      const mark = (part: string | readonly Segment[]) => (typeof part === 'string' ? part : segments(part))
      const type = map.datatype === undefined ? '' : `^^${mark(map.datatype)}`
      return `"${segments(map.segments)}"${type}${map.language === undefined ? '' : `@${mark(map.language)}`}`
    }
    default:
      return map satisfies never
  }
}

function segments(parts: readonly Segment[]): string {
  return parts
    .map(part => (part.type === 'constant' ? part.text : part.type === 'field' ? `{${part.name}}` : '{#}'))
    .join('')
}

const HEAD = 'mappings:\n  p:\n    s: http://e.org/$(id)\n    po:\n'
const translate = (...lines: readonly string[]) => HEAD + lines.map(line => `      - ${line}\n`).join('')
const FOAF = 'http://xmlns.com/foaf/0.1/'
const XSD = 'http://www.w3.org/2001/XMLSchema#'

t.test('statements become rules', async t => {
  const rows: readonly [string, readonly string[]][] = [
    ['[a, foaf:Person]', [`a <${FOAF}Person>`]],
    ['[rdf:type, <http://e.org/C>]', ['a <http://e.org/C>']],
    ['[foaf:name, $(name)]', [`${FOAF}name $name`]],
    ['[foaf:name, Ada]', [`${FOAF}name "Ada"`]],
    ['[foaf:name, "$(first) $(last)"]', [`${FOAF}name "{first} {last}"`]],
    ['[foaf:age, $(age), xsd:integer]', [`${FOAF}age "{age}"^^${XSD}integer`]],
    [`[foaf:age, $(age), '${XSD}integer']`, [`${FOAF}age "{age}"^^${XSD}integer`]],
    [`[foaf:age, $(age), <${XSD}integer>]`, [`${FOAF}age "{age}"^^${XSD}integer`]],
    ['[foaf:name, $(name), de-CH~lang]', [`${FOAF}name "{name}"@de-CH`]],
    ['[foaf:name, $(name), $(tag)~lang]', [`${FOAF}name "{name}"@{tag}`]],
    ['[foaf:page, $(page)~iri]', [`${FOAF}page <{page}>`]],
    ['[foaf:page, "http://e.org/$(page)"]', [`${FOAF}page <http://e.org/{page}>`]],
    ['[foaf:page, "http://e.org/$(page)", xsd:anyURI]', [`${FOAF}page "http://e.org/{page}"^^${XSD}anyURI`]],
    ['[foaf:page, portal:emperors/x/$(id)~iri]', [`${FOAF}page <${base}/ld/resources/emperors/x/{id}>`]],
    ['[field:name, $(name)]', [`${base}/ld/ontologies/emperors/name $name`]],
    ['[foaf:knows, p]', [`${FOAF}knows -> p`]],
    ['[foaf:knows, {mapping: p}]', [`${FOAF}knows -> p`]],
    ['[foaf:name, {value: p}]', [`${FOAF}name "p"`]],
    [
      '[[foaf:name, rdfs:label], [$(a), $(b)]]',
      [
        `${FOAF}name $a`,
        'http://www.w3.org/2000/01/rdf-schema#label $a',
        `${FOAF}name $b`,
        'http://www.w3.org/2000/01/rdf-schema#label $b',
      ],
    ],
    [
      '{p: foaf:name, o: [[$(a), en~lang], [$(b), xsd:string]]}',
      [`${FOAF}name "{a}"@en`, `${FOAF}name "{b}"^^${XSD}string`],
    ],
    ['{predicates: foaf:name, objects: {value: $(a), language: en}}', [`${FOAF}name "{a}"@en`]],
    ['{p: foaf:name, o: {value: $(a), datatype: rdf:langString, language: en}}', [`${FOAF}name "{a}"@en`]],
    ['{predicate: foaf:age, object: {v: $(a), datatype: xsd:int}}', [`${FOAF}age "{a}"^^${XSD}int`]],
    ['{p: foaf:page, o: {value: $(a), type: iri}}', [`${FOAF}page <{a}>`]],
    ['{p: foaf:page, o: $(a), type: iri}', [`${FOAF}page <{a}>`]],
    ['{p: foaf:page, o: {value: "http://e.org/", type: literal}}', [`${FOAF}page "http://e.org/"`]],
    ['{p: foaf:page, o: {value: "x$(a)", type: blank}}', [`${FOAF}page _:x{a}`]],
    ['{p: foaf:made, i: foaf:maker, o: $(a)~iri}', [`${FOAF}made <{a}>`, `^${FOAF}maker <{a}>`]],
    [
      '{p: foaf:name, o: $(a), graphs: [http://e.org/g, "http://e.org/$(g)"]}',
      [`${FOAF}name $a @<http://e.org/g> @<http://e.org/{g}>`],
    ],
    [
      '{p: foaf:knows, o: {mapping: p, condition: {function: equal, parameters: [[str1, $(id)], [str2, $(id)]]}}}',
      [`${FOAF}knows -> p`],
    ],
    ['[foaf:name, "a\\\\(b\\\\) \\\\$(c) $(d (e)) $(f\\\\)g)"]', [`${FOAF}name "a(b) $(c) {d (e)} {f)g}"`]],
    ['[foaf:name, "$((a\\\\)) $(b)"]', [`${FOAF}name "{(a)} {b}"`]],
    ['[foaf:name, "ex\\\\:x"]', [`${FOAF}name "ex:x"`]],
    ['[foaf:name, "$(\\\\_x)"]', [`${FOAF}name $_x`]],
    ['[foaf:name, "ex\\:x \\(\\)\\{\\}\\$(a)\\~iri $(\\_x)"]', [`${FOAF}name "ex:x (){}$(a)~iri {_x}"`]],
    ["[foaf:page, '$(a)\\~iri']", [`${FOAF}page "{a}~iri"`]],
    ['[foaf:name, "100% {x}"]', [`${FOAF}name "100% {x}"`]],
    ["[foaf:name, '100% \\{x}']", [`${FOAF}name "100% {x}"`]],
    ['[foaf:page, "geo:48.1,11.5~iri"]', [`${FOAF}page <geo:48.1,11.5>`]],
    ['[foaf:page, "geo:$(lat),$(lon)~iri"]', [`${FOAF}page <geo:{lat},{lon}>`]],
    ['[foaf:page, doi:10.1000/$(id)~iri]', [`${FOAF}page <doi:10.1000/{id}>`]],
    ['[foaf:page, info:doi/$(id)~iri]', [`${FOAF}page <info:doi/{id}>`]],
    ['[foaf:page, "tag:e.org,2024:$(id)~iri"]', [`${FOAF}page <tag:e.org,2024:{id}>`]],
    ['[foaf:page, "data:,$(id)~iri"]', [`${FOAF}page <data:,{id}>`]],
    ['[foaf:page, did:key:$(id)~iri]', [`${FOAF}page <did:key:{id}>`]],
    ['[foaf:page, ark:/12345/$(id)~iri]', [`${FOAF}page <ark:/12345/{id}>`]],
    ['[foaf:page, mailto:$(id)~iri]', [`${FOAF}page <mailto:{id}>`]],
    ['[foaf:name, 1.10]', [`${FOAF}name "1.10"`]],
    ['[foaf:name, "2018-03-07T23:00:00"]', [`${FOAF}name "2018-03-07T23:00:00"`]],
    ['[foaf:name, "US$& $1 $$"]', [`${FOAF}name "US$& $1 $$"`]],
  ]
  for (const [written, expected] of rows) {
    const { mapping, diagnostics } = readYarrrml(translate(written), { prefixes })
    const [, ...rules] = shown(mapping) ?? ['', ...diagnostics.map(({ message }) => message)]
    t.same(
      rules.map(rule => rule.trim()),
      expected,
      written,
    )
  }
})

t.test('documents become mappings', async t => {
  const rows: readonly [string, string, readonly string[]][] = [
    [
      'every shortcut of keys',
      'm:\n  p:\n    subject: http://e.org/$(a)\n    predicateobject:\n      - [a, foaf:Person]\n',
      ['p <http://e.org/{a}>', `  a <${FOAF}Person>`],
    ],
    [
      'several subjects make several rules, and links go to each',
      'mapping:\n  p:\n    s: [http://e.org/$(a), http://f.org/$(a)]\n    po:\n      - [foaf:knows, p]\n',
      [
        'p <http://e.org/{a}>',
        `  ${FOAF}knows -> p`,
        `  ${FOAF}knows -> p#2`,
        'p#2 <http://f.org/{a}>',
        `  ${FOAF}knows -> p`,
        `  ${FOAF}knows -> p#2`,
      ],
    ],
    [
      'prefixes, base, external values',
      'prefixes: {ex: "http://e.org/v#"}\nbase: http://e.org/\nexternal: {city: Ghent}\nmappings:\n  p:\n    s: p/$(a)\n    po:\n      - [ex:b, ex:$(b)~iri]\n      - [ex:c, $(_city)]\n      - [ex:d, $(_other)]\n',
      [
        'p <p/{a}> on http://e.org/',
        '  http://e.org/v#b <http://e.org/v#{b}>',
        '  http://e.org/v#c "Ghent"',
        '  http://e.org/v#d $_other',
      ],
    ],
    [
      'blank nodes and graphs',
      'mappings:\n  p:\n    s: {value: $(a), type: blank}\n    g: http://e.org/g\n    po: [[a, foaf:Person]]\n  q:\n    s: {type: blank}\n    po: {p: a, o: foaf:Person}\n',
      ['p _:{a} @<http://e.org/g>', `  a <${FOAF}Person>`, 'q _:', `  a <${FOAF}Person>`],
    ],
    [
      'sources',
      'sources:\n  one: [one.json~jsonpath, "$.x[*]"]\n  two: {access: two.csv, referenceFormulation: csv, delimiter: ";", encoding: latin1}\nmappings:\n  p:\n    source: one\n    s: http://e.org/$(a)\n    po: [[a, foaf:Person]]\n  q:\n    sources:\n      - two\n      - [three.csv~csv]\n    s: http://e.org/$(a)\n    po: [[a, foaf:Person]]\n',
      [
        'p <http://e.org/{a}> from one.json json $.x[*]',
        `  a <${FOAF}Person>`,
        'q <http://e.org/{a}> from two.csv csv null {"delimiter":";","encoding":"latin1"} from three.csv csv null',
        `  a <${FOAF}Person>`,
      ],
    ],
    [
      'aliases, comments, another order',
      '# people\nmappings:\n  p:\n    po: &all\n      - [a, foaf:Person] # a class\n    s: "http://e.org/$(a)"\n  q:\n    s: http://f.org/$(a)\n    po: *all\n',
      ['p <http://e.org/{a}>', `  a <${FOAF}Person>`, 'q <http://f.org/{a}>', `  a <${FOAF}Person>`],
    ],
    [
      'a subject that is a reference',
      'mappings:\n  p:\n    s: $(uri)\n    po: [[a, foaf:Person]]\n',
      ['p <{uri}>', `  a <${FOAF}Person>`],
    ],
  ]
  for (const [what, text, expected] of rows) {
    const { mapping, diagnostics } = readYarrrml(text)
    t.same(shown(mapping) ?? diagnostics, expected, what)
  }
  const { mapping } = readMapping(
    translate('[a, foaf:Person]', '[foaf:name, $(name)]', '[foaf:knows, p]'),
    'x.yml',
  )
  t.ok(mapping)
  if (mapping === null) return
  t.same(usedClasses(mapping), [`${FOAF}Person`])
  t.same(usedProperties(mapping), [`${FOAF}name`, `${FOAF}knows`])
  t.equal(readMapping('@prefix rr: <http://www.w3.org/ns/r2rml#> .', 'x').kind, 'rml')
})

const fields = [
  ...['id', 'name', 'birth_cty', 'birth_prv', 'era', 'dynasty', 'notes', 'image', 'url'].map(name =>
    field(name, 'text'),
  ),
  field('birth', 'date'),
  field('death', 'datetime'),
  field('reign', 'int'),
  field('height', 'double'),
  field('alive', 'boolean'),
  field('place', 'geo_point_2d'),
  field('tags', 'text', { multivalued: true }),
]

function check(text: string, statistics?: DatasetStatistics): readonly Diagnostic[] {
  const { mapping, diagnostics } = readYarrrml(text, { prefixes })
  if (mapping === null) return diagnostics
  const dataset = { id: 'emperors', base, fields, ...(statistics === undefined ? {} : { statistics }) }
  return [...diagnostics, ...validateMapping(mapping, dataset)]
}

t.test('a mapping without statements makes the resources of links', async t => {
  const linked = `mappings:
  p:
    s: http://e.org/$(id)
    po: [[a, foaf:Person], [foaf:name, $(name)], [foaf:based_near, city]]
  city:
    s: [http://e.org/city/$(name), http://e.org/era/$(era)]
`
  const { mapping, diagnostics } = readYarrrml(linked)
  t.strictSame(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  )
  const targets = mapping?.resources.flatMap(({ statements }) =>
    statements.flatMap(({ object }) => (object.type === 'link' ? [object.resource] : [])),
  )
  t.strictSame(targets, ['city', 'city#2'])
  for (const [before, after] of [
    [', city]', ', town]'],
    ['    s: [', '    po:\n    s: ['],
    ['    s: [http://e.org/city/$(name), http://e.org/era/$(era)]', '    g: http://e.org/g'],
  ] as const)
    t.match(
      readYarrrml(linked.replace(before, after)).diagnostics.filter(({ severity }) => severity === 'error'),
      [{ code: 'mapping-empty' }],
      after,
    )
})

t.test('every diagnostic has its place', async t => {
  const rows: readonly [DiagnosticCode, string, number, number][] = [
    ['yaml-syntax', translate('[a, foaf:Person', '[foaf:name, $(name)]'), 5, 9],
    ['yaml-syntax', translate('[a, foaf:Person]').replace('    po', '\tpo'), 4, 1],
    ['yaml-syntax', translate("[a, 'foaf:Person]"), 5, 13],
    ['yaml-syntax', translate('[foaf:name, #x]'), 5, 9],
    ['yaml-syntax', translate('[foaf:name, $(tags[*])]'), 5, 21],
    ['yaml-syntax', `${translate('[a, foaf:Person]')}---\na: b\n`, 6, 1],
    ['unsupported', translate('{<<: {p: a}, p: a, o: foaf:Person}'), 5, 10],
    ['yaml-duplicate-key', `${translate('[a, foaf:Person]')}  p:\n    s: x`, 6, 3],
    ['yaml-too-big', '#'.repeat(256_001), 1, 1],
    ['alias-bomb', 'mappings: &m\n  p: *m\n', 2, 6],
    ['doc-not-map', '- a\n', 1, 1],
    ['no-mappings', 'prefixes: {}\n', 1, 1],
    ['no-mappings', '', 1, 1],
    ['no-mappings', 'authors: [A]\n', 1, 1],
    ['mapping-empty', 'mappings:\n  p:\n', 2, 3],
    ['mapping-empty', 'mappings:\n  p:\n    s: http://e.org/$(id)\n', 2, 3],
    ['key-unknown', 'mapings:\n  p:\n', 1, 1],
    ['key-unknown', translate('{p: foaf:name, o: {value: $(id), langage: en}}'), 5, 42],
    ['key-twice', `${translate('[a, foaf:Person]')}    subject: x`, 6, 5],
    ['value-shape', translate('[foaf:name, $(name): x]'), 5, 21],
    ['subject-missing', 'mappings:\n  p:\n    type: iri\n    po: [[a, foaf:Person]]\n', 2, 3],
    ['subject-missing', 'mappings:\n  p:\n    s: ""\n    po: [[a, foaf:Person]]\n', 3, 8],
    ['subject-blank', 'mappings:\n  p:\n    po: [[a, foaf:Person]]\n', 2, 3],
    ['subject-blank', 'mappings:\n  p:\n    s: null\n    po: [[a, foaf:Person]]\n', 3, 5],
    ['subject-not-iri', 'mappings:\n  p:\n    s: person/$(id)\n    po: [[a, foaf:Person]]\n', 3, 8],
    ['subject-not-iri', 'mappings:\n  p:\n    s: _:b$(id)\n    po: [[a, foaf:Person]]\n', 3, 8],
    ['object-not-iri', translate('[foaf:knows, who/$(id)~iri]'), 5, 22],
    ['graph-not-iri', translate('{p: foaf:name, o: x, g: graph}'), 5, 33],
    ['reference-unknown-field', translate('[foaf:name, $(nmae)]'), 5, 21],
    ['reference-syntax', translate('[foaf:name, $(name]'), 5, 21],
    ['reference-syntax', translate('[foaf:name, $(name, era)]'), 5, 21],
    ['predicate-not-iri', translate('[name, $(name)]'), 5, 10],
    ['predicate-has-reference', translate('["http://e.org/$(id)", $(name)]'), 5, 10],
    ['prefix-unknown', translate('[foaff:name, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[a, geo:Feature]'), 5, 13],
    ['prefix-unknown', translate('[foaf:name, $(name), geo:wktLiteral]'), 5, 30],
    ['prefix-unknown', translate('[geo:$(name), $(name)]'), 5, 10],
    ['prefix-unknown', translate('[info:about, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[tag:label, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[data:label, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[doi:label, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[did:label, $(name)]'), 5, 10],
    ['prefix-unknown', translate('[ark:label, $(name)]'), 5, 10],
    ['prefix-iri-invalid', `prefixes:\n  ex: nothing\n${translate('[ex:a, $(id)]')}`, 2, 7],
    ['iri-invalid-char', translate('[foaf:page, "http://e.org/a b"]'), 5, 36],
    ['class-not-iri', translate('[a, Person]'), 5, 13],
    ['link-unknown', translate('{p: foaf:knows, o: {mapping: q}}'), 5, 38],
    ['datatype-and-language', translate('[foaf:name, $(name), xsd:string, en~lang]'), 5, 9],
    [
      'datatype-and-language',
      translate('{p: rdfs:label, o: {value: a, datatype: xsd:string, language: en}}'),
      5,
      71,
    ],
    ['language-invalid', translate('[foaf:name, $(name), en_US~lang]'), 5, 30],
    ['datatype-not-iri', translate('[foaf:age, $(reign), integer]'), 5, 30],
    ['datatype-unknown', translate('[foaf:age, $(reign), xsd:integr]'), 5, 30],
    ['po-shape', translate('[foaf:name]'), 5, 9],
    ['po-shape', translate('foaf:name'), 5, 9],
    ['constant-ill-typed', translate('[foaf:age, old, xsd:integer]'), 5, 20],
    ['source-unknown', `${translate('[a, foaf:Person]')}    source: x`, 6, 13],
    ['unsupported', translate('{p: foaf:name, o: {function: ex:f}}'), 5, 28],
    ['unsupported', translate('{p: foaf:name, o: {mapping: p, condition: {function: equal}}}'), 5, 51],
    ['unsupported', translate('{p: foaf:knows, o: {mapping: p, join: [$(id), $(id)]}}'), 5, 41],
    ['unsupported', `sources: {x: ["http://e.org/x.csv~csv"]}\n${translate('[a, foaf:Person]')}`, 1, 15],
    ['unsupported', translate('{p: foaf:name, o: x, targets: t}'), 5, 30],
    ['limits', translate(`[foaf:name, ${'x'.repeat(10_001)}]`), 5, 21],
    ['limits', `mappings: ${'['.repeat(100_000)}`, 1, 71],
    ['field-unused', translate('[foaf:name, $(name)]'), 2, 3],
    ['field-type-vs-datatype', translate('[foaf:name, $(name), xsd:date]'), 5, 30],
    ['field-type-vs-datatype', translate('[foaf:name, $(reign), en~lang]'), 5, 31],
    ['subject-constant', 'mappings:\n  p:\n    s: http://e.org/x\n    po: [[foaf:name, $(name)]]\n', 3, 8],
    ['looks-like-curie', translate('[foaf:name, foaf:Person]'), 5, 21],
    ['looks-like-link', translate('[foaf:knows, persn]').replace(' p:', ' person:'), 5, 22],
    ['looks-like-reference', translate('[foaf:name, name]'), 5, 21],
    ['looks-like-reference', translate('[foaf:name, (name)]'), 5, 21],
    ['looks-like-reference', translate('[foaf:name, "{name}"]'), 5, 22],
    ['looks-like-reference', translate(`[foaf:name, "$(name) \${era}"]`), 5, 30],
    ['iri-invalid-char', translate('[foaf:page, "http://e.org/{name}"]'), 5, 35],
    ['looks-like-key', translate('{p: foaf:name, o: [value x]}'), 5, 28],
    ['stray-quote', translate('[foaf:name, $(name)"]'), 5, 21],
    [
      'iri-unusual',
      translate('[foaf:page, "htp://e.org/$(id)"~iri]').replace('"~', '~').replace('"htp', 'htp'),
      5,
      21,
    ],
    ['looks-like-iri-without-scheme', translate('[foaf:page, www.e.org]'), 5, 21],
    ['term-unknown', translate('[foaf:nmae, $(name)]'), 5, 10],
    ['term-unknown', translate("['http://xmlns.com/faof/0.1/name', $(name)]"), 5, 10],
    ['prefix-without-separator', `prefixes:\n  ex: http://e.org\n${translate('[ex:a, $(id)]')}`, 2, 7],
    ['equals-mapping-key-with-datatype', translate('[foaf:name, p, en~lang]'), 5, 21],
    ['duplicate-rule', translate('[foaf:name, $(name)]', '[foaf:name, $(name)]'), 6, 21],
    ['class-missing', translate('[foaf:name, $(name)]'), 2, 3],
    ['label-missing', translate('[a, foaf:Person]'), 2, 3],
    ['resource-not-dereferenceable', translate('[foaf:name, $(name)]'), 3, 8],
    ['multivalued-in-subject', translate('[a, foaf:Person]').replace('$(id)', '$(tags)'), 3, 21],
    ['long-iri', translate('[a, foaf:Person]').replace('$(id)', `${'x'.repeat(200)}$(id)`), 3, 8],
    ['iri-field-not-url', translate('[foaf:page, $(reign)~iri]'), 5, 21],
    ['http-vs-https', translate('["https://xmlns.com/foaf/0.1/name", $(id)]'), 5, 10],
    [
      'mapping-isolated',
      `${translate('[a, foaf:Person]')}  q:\n    s: http://e.org/q/$(id)\n    po: [[a, foaf:Person]]\n`,
      6,
      3,
    ],
    ['prefix-unused', `prefixes:\n  ex: http://e.org/\n${translate('[a, foaf:Person]')}`, 2, 3],
    ['prefix-redefines-default', `prefixes:\n  foaf: http://e.org/\n${translate('[a, foaf:Person]')}`, 2, 9],
    ['language-unusual', translate('[foaf:name, $(name), english~lang]'), 5, 30],
    ['lossy-datatype', translate('[foaf:age, $(reign), xsd:int]'), 5, 30],
    ['datatype-from-field', translate('[rdfs:label, $(name), $(era)]'), 5, 31],
    ['datatype-from-field', translate('{p: rdfs:label, o: [[$(name), $(era)]]}'), 5, 39],
    ['suffix-unknown', translate('[foaf:age, $(reign)~xsd:integer]'), 5, 28],
    ['sources-ignored', `${translate('[a, foaf:Person]')}    source: [x.csv~csv]\n`, 2, 3],
    ['authors-ignored', `authors: Ada\n${translate('[a, foaf:Person]')}`, 1, 1],
  ]
  for (const [code, text, line, column] of rows) {
    const found = check(text)
    const at = found.filter(one => one.code === code).map(({ place }) => `${place.line}:${place.column}`)
    const all = found.map(one => `${one.code} ${one.place.line}:${one.place.column}`).join(', ')
    t.ok(at.includes(`${line}:${column}`), `${code} at ${line}:${column}, found ${all}`)
  }
  const described = new Set(rows.map(([code]) => code))
  // Of RML; of a link whose target was told already; of files; of statistics, which the next test has.
  const elsewhere = [
    ...['turtle-syntax', 'link-target-without-subject', 'column-repeated'],
    'subject-collision-risk',
  ]
  t.same(
    [...ERRORS, ...WARNINGS].filter(code => !described.has(code) && !elsewhere.includes(code)),
    [],
  )
  t.equal(severityOf('sources-ignored'), 'info')
})

t.test('subjects in the space of their dataset can be looked up, with a class or without', async t => {
  const space = `${base}/ld/resources/emperors/`
  const rows: readonly (readonly [subject: string, isReported: boolean])[] = [
    [`${space}person/$(id)`, false],
    [`${space}$(id)`, false],
    [`${space}$(id)#this`, false],
    [space, true],
    [`${base}/ld/resources/other/person/$(id)`, true],
  ]
  for (const [subject, isReported] of rows) {
    const found = check(translate('[a, foaf:Person]').replace('http://e.org/$(id)', subject))
    t.equal(
      found.some(({ code }) => code === 'resource-not-dereferenceable'),
      isReported,
      subject,
    )
  }
})

t.test('what is unsupported has a remedy', async t => {
  const condition = translate('[a, foaf:Person]').replace(
    '    po:',
    '    condition: {function: equal, parameters: [[a, $(name)], [b, x]]}\n    po:',
  )
  for (const [text, hint] of [
    [translate('{p: foaf:name, o: {function: ex:f}}'), /processors: replace, compute/],
    [condition, /filter/],
    [`${translate('[a, foaf:Person]')}targets: {t: [out.nq, void]}\n`, /standard output/],
  ] as const)
    t.match(
      check(text).filter(({ code }) => code === 'unsupported'),
      [{ hint }],
    )
})

t.test('the form that was meant', async t => {
  const rows: readonly (readonly [statement: string, code: DiagnosticCode | null, hint: RegExp])[] = [
    [
      '[rdfs:label, $(name), $(era)]',
      'datatype-from-field',
      /"\$\(name\), \$\(era\)".*\[\$\(name\), \$\(era\)\]/,
    ],
    ['[rdfs:label, "$(name), x", $(era)]', 'datatype-from-field', /\["\$\(name\), x", \$\(era\)\]/],
    ['[rdfs:label, $(name), $(era) $(url)]', 'datatype-not-iri', /in quotes/],
    ['[rdfs:label, $(name), birth_prv]', 'datatype-not-iri', /in quotes/],
    ['[rdfs:label, $(name), dateTme]', 'datatype-not-iri', /xsd:dateTime/],
    ['[foaf:age, $(reign)~xsd:integer]', 'suffix-unknown', /\[predicate, \$\(reign\), xsd:integer\]/],
    [`[foaf:age, "$(reign)~${XSD}gYear"]`, 'suffix-unknown', /\$\(reign\), http:.*#gYear\]/],
    ['[foaf:age, 42~xsd:integer]', 'suffix-unknown', /\[predicate, 42, xsd:integer\]/],
    ['[foaf:age, $(reign)~integer]', 'suffix-unknown', /xsd:integer\]/],
    ['[foaf:name, $(name)~de]', 'suffix-unknown', /de~lang\]/],
    ['[foaf:name, $(name)~fr_CH]', 'suffix-unknown', /fr-CH~lang\]/],
    ['[foaf:name, $(name)~html]', 'suffix-unknown', /~iri/],
    ['[foaf:name, $(name)~iir]', 'value-shape', /~iri/],
    ['[foaf:name, {value: $(name), datatype: $(era)}]', null, /^$/],
    ['[foaf:name, $(name), xsd:$(era)]', null, /^$/],
    ['[foaf:name, $(name), $(era)~lang]', null, /^$/],
    ['[foaf:name, "at home~ish"]', null, /^$/],
    ["[foaf:name, '$(name)\\~de']", null, /^$/],
  ]
  for (const [statement, code, hint] of rows) {
    const described = check(translate(statement)).filter(one =>
      ['datatype-from-field', 'suffix-unknown', 'datatype-not-iri', 'value-shape'].includes(one.code),
    )
    t.match(described, code === null ? [] : [{ code, hint }], statement)
    t.equal(described.length, code === null ? 0 : 1, statement)
  }
})

t.test('a join is a link of the same record, or is refused', async t => {
  const joined = (condition: string, ...subjects: readonly string[]) =>
    `${translate(`{p: foaf:knows, o: {mapping: q, condition: ${condition}}}`)}  q:\n    s: [${subjects.join(', ')}]\n` +
    '    po: [[a, foaf:Group]]\n'
  const equal = (first: string, second = first) =>
    `{function: equal, parameters: [[str1, ${first}, s], [str2, ${second}, o]]}`
  const rows: readonly (readonly [condition: string, subjects: readonly string[], links: number | null])[] = [
    [equal('$(era)'), ['http://d.org/$(era)'], 1],
    [equal('$(era)'), ['"http://d.org/$(era)/$(era)"', 'http://e.org/$(era)'], 2],
    ['"equal(str1=$(era), str2=$(era))"', ['http://d.org/$(era)'], 1],
    ['[{function: "equal($(era), $(era))"}]', ['http://d.org/$(era)'], 1],
    [equal('$(era)'), ['http://d.org/$(id)'], null],
    [equal('$(era)'), ['http://d.org/x'], null],
    [equal('$(era)'), ['http://d.org/$(era)', 'http://d.org/$(id)'], null],
    [equal('$(era)'), ['"http://d.org/$(era)/$(id)"'], null],
    [equal('$(era)'), ['http://d.org/$(recordid)'], null],
    [equal('$(era)'), ['"http://d.org/$(name)"'], null],
    ['"equal($(era), $(era))"', ['http://d.org/$(id)'], null],
    [equal('$(era)-$(id)'), ['"http://d.org/$(era)/$(id)"'], null],
    [equal('$(era)', '$(name)'), ['http://d.org/$(era)'], null],
    [equal('$(tags)'), ['http://d.org/$(tags)'], null],
  ]
  for (const [condition, subjects, links] of rows) {
    const text = joined(condition, ...subjects)
    const errors = check(text).filter(({ severity }) => severity === 'error')
    const place = { line: 5, column: 52 }
    const refused = [
      { code: 'unsupported', message: /^a join with other records of `q`.*joins are not/, place },
    ]
    t.match(errors, links === null ? refused : [], text)
    t.equal(errors.length, links === null ? 1 : 0, text)
    if (links === null) continue
    const found = readYarrrml(text).mapping?.resources[0]?.statements.map(({ object }) => object.type)
    t.strictSame(found, Array(links).fill('link'), text)
  }
})

t.test('conditions with hundreds of blanks are read in a moment', async t => {
  const blanks = ' '.repeat(480)
  const link = (condition: string) => `{p: "http://e.org/p", o: {mapping: p, condition: ${condition}}}`
  const text = translate(
    link(`&c "equal(${blanks}$(id),${blanks}x"`),
    ...Array.from({ length: 500 }, () => link('*c')),
  )
  const begun = performance.now()
  t.equal(readYarrrml(text, { prefixes }).mapping, null)
  t.ok(performance.now() - begun < 5000, 'each took half a second')
  const spaced = readYarrrml(translate(link('"equal( str1 = $(id) , str2 = $(id) )"')), { prefixes })
  t.ok(spaced.mapping, 'blanks are where they were')
})

t.test('the prefixes of a portal are told where there is none', async t => {
  for (const name of ['portal', 'field']) {
    const found = readYarrrml(translate(`[${name}:x, $(name)]`)).diagnostics
    t.match(found, [
      { code: 'prefix-unknown', hint: new RegExp(`portal.*Declare it: .*${name}: "http://…/ld/`) },
    ])
  }
  t.match(readYarrrml(translate('[constructor:x, 1]')).diagnostics, [{ hint: /^Declare it at the top/ }])
})

t.test('prefixes of what is not supported count as used', async t => {
  const text = `prefixes: {ex: "http://e.org/"}\n${translate('{p: foaf:name, o: {function: ex:f}}')}`
  t.strictSame(
    check(text).map(({ code }) => code),
    ['unsupported'],
  )
})

t.test('a mapping without a subject is of blank nodes', async t => {
  for (const subject of ['', 's: null', 's:', 's: []', 's: {type: blank}', 'type: blank']) {
    const text = `mappings:\n  p:\n    po: [[a, foaf:Person]]\n    ${subject}\n`
    const warned = !subject.includes('blank')
    t.strictSame(shown(readYarrrml(text).mapping), ['p _:', `  a <${FOAF}Person>`], subject)
    t.equal(check(text).filter(({ code }) => code === 'subject-blank').length, warned ? 1 : 0, subject)
  }
})

t.test('what is found several times is told once, with a count', async t => {
  const text = translate('[foaf:name, "$(nme) $(nme)"]', '[foaf:nick, $(name)]', '[foaf:title, $(nme)]')
  const merged = withoutRepeats(check(text)).filter(({ code }) => code === 'reference-unknown-field')
  t.equal(merged.length, 1)
  t.match(
    merged.map(one => diagnosticText('m.yml', one)),
    [/^m\.yml:5:22: error reference-unknown-field: .*`nme` \(3 times, also in line 7\)\n/],
  )
  t.same(
    merged.flatMap(placesOf).map(({ line, column }) => [line, column]),
    [
      [5, 22],
      [5, 29],
      [7, 22],
    ],
  )
})

t.test(
  'an error counts behind hundreds of warnings, and what an alias repeats is told in a moment',
  async t => {
    const warned = Array.from({ length: 600 }, (_, at) => `["http://e.org/${at}", "{x}"]`)
    for (const last of ['[foaf:name, $(name]', '[none:name, $(name)]']) {
      const { mapping, diagnostics } = readYarrrml(translate(...warned, last), { prefixes })
      t.equal(mapping, null, last)
      t.same(
        [diagnostics.length, diagnostics.at(-1)?.severity],
        [501, 'error'],
        'of the rest there are five hundred',
      )
    }
    const unknown = Array.from({ length: 60 }, (_, at) => `$(f${at})`).join(' ')
    const aliases = Array.from({ length: 1800 }, (_, at) => `["http://e.org/${at}", *t]`)
    const begun = performance.now()
    const { mapping } = readYarrrml(translate(`[foaf:name, &t "${unknown}"]`, ...aliases), { prefixes })
    const fields = Array.from({ length: 500 }, (_, at) => field(`field_${at}`, 'text'))
    const found = mapping === null ? [] : validateMapping(mapping, { id: 'emperors', base, fields })
    t.equal(
      found.filter(({ code }) => code === 'reference-unknown-field').length,
      61,
      'each at its place, once',
    )
    t.ok(performance.now() - begun < 10_000, 'all pairs of them took minutes')
  },
)

t.test('sources of a dataset are ignored, whatever they are', async t => {
  const source = (...keys: readonly string[]) => `{access: a, referenceFormulation: csv, ${keys.join(', ')}}`
  const named = (written: string) =>
    `sources: {s: ${written}}\n${translate('[a, foaf:Person]')}    source: s\n`
  const rows: readonly [string, string, DiagnosticCode | null][] = [
    ['x.yml', named('{access: a.xml, referenceFormulation: xpath, iterator: /a/b}'), 'unsupported'],
    ['x.yml', named(source('query: SELECT 1', 'queryFormulation: sql2008')), 'unsupported'],
    ['x.yml', named(source('contentType: text/csv')), null],
    ['x.yml', named(source('operationType: read', 'contentType: text/csv')), 'unsupported'],
    ['x.yml', named('["http://e.org/x.csv~csv"]'), 'unsupported'],
    ['x.yml', `${translate('[a, foaf:Person]')}    source: x\n`, 'source-unknown'],
    ['x.ttl', XPATH, 'unsupported'],
  ]
  for (const [file, text, code] of rows) {
    const { mapping, diagnostics, kind } = readMapping(text, file, { prefixes })
    t.ok(mapping, text)
    const { severity } = diagnostics.find(one => one.code === 'sources-ignored') ?? {}
    t.equal(severity, code === null ? undefined : 'info', text)
    const strict = kind === 'rml' ? readRml(text) : readYarrrml(text, { prefixes })
    t.equal(strict.mapping === null, code !== null, text)
    t.ok(code === null || strict.diagnostics.some(one => one.code === code), text)
  }
})

const XPATH = `@prefix rml: <http://w3id.org/rml/> .
<#M> rml:logicalSource [ rml:source "a.xml" ; rml:referenceFormulation rml:XPath ; rml:iterator "/a/b" ] ;
  rml:subjectMap [ rml:template "http://e.org/{id}" ] .
`

t.test('the language of a mapping shows in its text', async t => {
  const turtle = [
    '@prefix rr: <http://www.w3.org/ns/r2rml#> .',
    '# people\n\n  @base <http://e.org/> .',
    'PREFIX rml: <http://w3id.org/rml/>',
    'prefix : <http://e.org/>',
    'base <http://e.org/>',
    '\ufeff<#m> a <http://w3id.org/rml/TriplesMap> .',
    '_:m a <http://w3id.org/rml/TriplesMap> .',
    '[] a rr:TriplesMap .',
    '[ a rr:TriplesMap ] .',
  ]
  const yaml = [
    'mappings:\n  p:\n',
    '# @prefix\nprefixes:\n  ex: http://e.org/\n',
    '---\nm: {}\n',
    '{mappings: {}}',
    '"prefixes":\n  base: <http://e.org/>\n',
    'prefix:\n  ex: <http://e.org/>\n',
    'base: http://e.org/\n',
    'm:\n  p:\n    s: http://e.org/$(a)\n    po:\n      - [a,\n <http://e.org/C> ]\n',
  ]
  for (const file of ['m.yml', 'm.ttl', 'm']) {
    for (const text of turtle) t.equal(mappingKind(text, file), 'rml', `${file} ${text}`)
    for (const text of yaml) t.equal(mappingKind(text, file), 'yarrrml', `${file} ${text}`)
  }
  t.equal(mappingKind('', 'm.rml.ttl'), 'rml', 'else the name tells')
  t.equal(mappingKind('- x', 'm'), 'yarrrml')
})

t.test('statistics tell what types do not', async t => {
  const known = (distinct: number, quantiles: readonly string[] = []) => ({
    present: 100,
    nulls: 0,
    distinct,
    min: null,
    max: null,
    quantiles,
  })
  const statistics = (more: DatasetStatistics['fields']): DatasetStatistics => ({
    records: 100,
    fields: more,
  })
  const codes = (text: string, of: DatasetStatistics) => check(text, of).map(({ code }) => code)
  const text = translate(
    '[foaf:name, $(name)]',
    '[foaf:birthday, $(era), xsd:date]',
    '[foaf:page, $(url)~iri]',
  )
  t.ok(codes(text, statistics({ id: known(3), name: known(90) })).includes('subject-collision-risk'))
  t.notOk(codes(text, statistics({ id: known(100), name: known(90) })).includes('subject-collision-risk'))
  t.notOk(
    codes(text, statistics({ era: known(9, ['2020-01-01', '2021-01-01']) })).includes(
      'field-type-vs-datatype',
    ),
  )
  const small = { ...known(9), min: 1e-7, max: 1e21 }
  t.notOk(
    codes(translate('[foaf:age, $(reign), xsd:decimal]'), statistics({ reign: small })).includes(
      'field-type-vs-datatype',
    ),
    'numbers have the form that the triples have, without exponents',
  )
  t.ok(codes(text, statistics({ url: known(9, ['example', 'other']) })).includes('iri-field-not-url'))
  t.notOk(codes(text, statistics({ url: known(9, ['http://e.org/a']) })).includes('iri-field-not-url'))
})
