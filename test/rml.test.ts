import { Parser } from 'n3'
import t from 'tap'
import type { MappingColumn } from '../src/mapping/columns.ts'
import type { Diagnostic } from '../src/mapping/diagnostic.ts'
import type { Mapping, ObjectMap, ResourceRule, Segment, TermMap } from '../src/mapping/ir.ts'
import { readRml } from '../src/mapping/rml/read.ts'
import { escapeTemplate, readTemplate } from '../src/mapping/rml/template.ts'
import { type WriteRmlOptions, writeRml } from '../src/mapping/rml/write.ts'

const PREFIXES = {
  new: [
    '@prefix rml: <http://w3id.org/rml/> .',
    '@prefix csvw: <http://www.w3.org/ns/csvw#> .',
    '@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .',
    '@prefix ex: <http://example.org/> .',
  ].join(' '),
  old: [
    '@prefix rr: <http://www.w3.org/ns/r2rml#> .',
    '@prefix rml: <http://semweb.mmlab.be/ns/rml#> .',
    '@prefix ql: <http://semweb.mmlab.be/ns/ql#> .',
    '@prefix ex: <http://example.org/> .',
  ].join(' '),
}

const SOURCE = 'rml:logicalSource [ rml:source "people.csv" ; rml:referenceFormulation rml:CSV ]'
const OLD_SOURCE = 'rml:logicalSource [ rml:source "people.csv" ; rml:referenceFormulation ql:CSV ]'
const SUBJECT = 'rml:subjectMap [ rml:template "http://example.org/{id}" ]'

/** A document with one triples map: its prefixes are line 1, its text begins in line 2. */
function document(text: string, vocabulary: 'new' | 'old' = 'new'): string {
  return `${PREFIXES[vocabulary]}\n${text}`
}

/** Rules without the conditions of their links, which are written for other engines. */
function withoutJoins<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === 'joined' ? undefined : inner)))
}

/** A mapping without its places. */
function withoutPlaces<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (key === 'place' || key === 'subjectPlace' ? undefined : inner)),
  )
}

function read(text: string, base?: string): Mapping {
  const { mapping, diagnostics } = readRml(text, base === undefined ? {} : { base })
  if (mapping === null) throw new Error(diagnostics.map(({ message }) => message).join('; '))
  return withoutPlaces(mapping)
}

const text = (value: string): Segment => ({ type: 'constant', text: value })
const field = (name: string): Segment => ({ type: 'field', name })
const iri = (...segments: readonly Segment[]): TermMap => ({ type: 'iri', segments })
const literal = (...segments: readonly Segment[]): TermMap => ({ type: 'literal', segments })

t.test('object maps of both vocabularies', async t => {
  const rows: readonly (readonly [map: string, expected: ObjectMap])[] = [
    ['rr:object ex:x', iri(text('http://example.org/x'))],
    ['rr:object "x"', literal(text('x'))],
    ['rr:object "x"@en', { ...literal(text('x')), language: 'en' } as TermMap],
    [
      'rr:object true',
      { ...literal(text('true')), datatype: 'http://www.w3.org/2001/XMLSchema#boolean' } as TermMap,
    ],
    ['rr:objectMap [ rr:constant ex:x ]', iri(text('http://example.org/x'))],
    ['rr:objectMap [ rr:constant "x" ]', literal(text('x'))],
    ['rr:objectMap [ rr:constant "http://x/1" ; rr:termType rr:IRI ]', iri(text('http://x/1'))],
    ['rr:objectMap [ rr:constant "http://x/1" ]', literal(text('http://x/1'))],
    ['rr:objectMap [ rml:reference "a" ]', { type: 'natural', field: 'a' }],
    ['rr:objectMap [ rml:reference "a" ; rr:termType rr:Literal ]', { type: 'natural', field: 'a' }],
    ['rr:objectMap [ rml:reference "a" ; rr:termType rr:IRI ]', iri(field('a'))],
    [
      'rr:objectMap [ rml:reference "a" ; rr:termType rr:BlankNode ]',
      { type: 'blank', segments: [field('a')] },
    ],
    ['rr:objectMap [ rr:termType rr:BlankNode ]', { type: 'blank', segments: [] }],
    [
      'rr:objectMap [ rml:reference "a" ; rr:datatype ex:d ]',
      { ...literal(field('a')), datatype: 'http://example.org/d' } as TermMap,
    ],
    [
      'rr:objectMap [ rml:reference "a" ; rr:language "pt-BR" ]',
      { ...literal(field('a')), language: 'pt-BR' } as TermMap,
    ],
    [
      'rr:objectMap [ rml:reference "a" ; rml:languageMap [ rml:reference "l" ] ]',
      { ...literal(field('a')), language: [field('l')] } as TermMap,
    ],
    [
      'rr:objectMap [ rml:reference "a" ; rml:datatypeMap [ rr:template "http://d/{t}" ] ]',
      { ...literal(field('a')), datatype: [text('http://d/'), field('t')] } as TermMap,
    ],
    [
      'rr:objectMap [ rr:template "http://x/{a}/{b}" ]',
      iri(text('http://x/'), field('a'), text('/'), field('b')),
    ],
    ['rr:objectMap [ rr:template "{a}" ]', iri(text(''), field('a'))],
    [
      'rr:objectMap [ rr:template "{a} {b}" ; rr:termType rr:Literal ]',
      literal(field('a'), text(' '), field('b')),
    ],
    [
      'rr:objectMap [ rr:template "{a}!" ; rr:language "en" ]',
      { ...literal(field('a'), text('!')), language: 'en' } as TermMap,
    ],
    [
      'rr:objectMap [ rr:template "\\\\{{$[\'b c\']}\\\\}" ; rr:termType rr:Literal ]',
      literal(text('{'), field("$['b c']"), text('}')),
    ],
    ['rr:objectMap [ rr:parentTriplesMap <#Other> ]', { type: 'link', resource: 'Other' }],
    [
      'rr:objectMap [ rr:parentTriplesMap <#Other> ; rr:joinCondition [ rr:child "o" ; rr:parent "o" ] ]',
      { type: 'link', resource: 'Other', joined: { fields: ['o'] } } as unknown as ObjectMap,
    ],
  ]
  for (const [map, expected] of rows) {
    const old = document(
      `<#It> ${OLD_SOURCE} ; rr:subjectMap [ rr:template "http://x/{id}" ] ; rr:predicateObjectMap [ rr:predicate ex:p ; ${map} ] .
       <#Other> ${OLD_SOURCE} ; rr:subjectMap [ rr:template "http://o/{o}" ] .`,
      'old',
    )
    const modern = old
      .replaceAll('http://semweb.mmlab.be/ns/rml#', 'http://w3id.org/rml/')
      .replaceAll('http://www.w3.org/ns/r2rml#', 'http://w3id.org/rml/')
    t.strictSame(
      read(old).resources[0]?.statements,
      [{ predicate: 'http://example.org/p', object: expected }],
      map,
    )
    t.strictSame(read(modern).resources, read(old).resources, `${map} in the new vocabulary`)
    t.equal(read(modern).generation, 'new')
    t.equal(read(old).generation, 'old')
  }
})

t.test('subjects, classes, predicates, graphs and bases', async t => {
  const mapping = read(
    document(`@base <http://base/> .
      <#It> a rml:TriplesMap ; ${SOURCE} ;
        rml:subjectMap [ rml:reference "uri" ; rml:class ex:A, ex:B ; rml:graph ex:g ; rml:graphMap [ rml:template "http://g/{g}" ] , [ rml:constant "http://g/1" ] ] ;
        rml:predicateObjectMap [
          rml:predicate ex:p ; rml:predicateMap [ rml:template "http://p/{p}" ] ;
          rml:object 1, ex:x ; rml:graph rml:defaultGraph ] .
      <#Safe> rml:baseIRI <http://other/> ; ${SOURCE} ; rml:subjectMap [ rml:template "{id}" ; rml:termType rml:URI ] .
      <#Constant> ${SOURCE} ; rml:subject ex:one .`),
  )
  const [it, safe, constant] = mapping.resources as [ResourceRule, ResourceRule, ResourceRule]
  t.strictSame(it.subject, { type: 'iri', segments: [field('uri')], base: 'http://base/' })
  t.strictSame(it.graphs, [
    iri(text('http://example.org/g')),
    { type: 'iri', segments: [text('http://g/'), field('g')], base: 'http://base/' },
    iri(text('http://g/1')),
  ])
  t.equal(it.statements.length, 6)
  t.strictSame(
    it.statements.slice(0, 2).map(({ object }) => object),
    [iri(text('http://example.org/A')), iri(text('http://example.org/B'))],
  )
  t.strictSame(it.statements[5], {
    predicate: { type: 'iri', segments: [text('http://p/'), field('p')], base: 'http://base/' },
    object: iri(text('http://example.org/x')),
    graphs: [iri(text('http://w3id.org/rml/defaultGraph'))],
  })
  t.strictSame(safe.subject, {
    type: 'iri',
    segments: [text(''), field('id')],
    encode: 'uri',
    base: 'http://other/',
  })
  t.strictSame(constant.subject, iri(text('http://example.org/one')))
  t.strictSame(mapping.prefixes?.ex, 'http://example.org/')
})

t.test('sources', async t => {
  const rows: readonly (readonly [source: string, expected: unknown])[] = [
    [
      'rml:source "a.csv" ; rml:referenceFormulation rml:CSV',
      { path: 'a.csv', formulation: 'csv', iterator: null },
    ],
    [
      'rml:source [ rml:root rml:MappingDirectory ; rml:path "d/a.json" ; rml:null "-" ] ; rml:referenceFormulation rml:JSONPath ; rml:iterator "$.x[*]"',
      { path: 'd/a.json', formulation: 'json', iterator: '$.x[*]', dialect: { nulls: ['-'] } },
    ],
    [
      'rml:source [ a csvw:Table ; csvw:url "a.csv" ; csvw:null "NULL" ; csvw:dialect [ csvw:delimiter ";" ; csvw:quoteChar "\'" ; csvw:encoding "UTF-16" ; csvw:commentPrefix "#" ; csvw:trim true ; csvw:header false ] ] ; rml:referenceFormulation rml:CSV',
      {
        path: 'a.csv',
        formulation: 'csv',
        iterator: null,
        dialect: {
          delimiter: ';',
          quote: "'",
          encoding: 'UTF-16',
          comment: '#',
          trim: true,
          header: false,
          nulls: ['NULL'],
        },
      },
    ],
  ]
  for (const [source, expected] of rows) {
    const [rule] = read(document(`<#It> rml:logicalSource [ ${source} ] ; ${SUBJECT} .`)).resources
    t.strictSame(rule?.sources, [expected], source)
  }
})

/** What is wrong, and the line and the code that say so; the first line of the text is line 2. */
const BROKEN: readonly (readonly [code: string, line: number, text: string])[] = [
  ['turtle-syntax', 2, `<#It> ${SOURCE}\n${SUBJECT} .`],
  ['turtle-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://x/{id}\n] .`],
  [
    'turtle-syntax',
    3,
    `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://x/{id}" ;\n rml:predicateObjectMap [ rml:predicate ex:p ] .`,
  ],
  ['turtle-syntax', 2, `#It> ${SOURCE} ;\n ${SUBJECT} .`],
  ['prefix-unknown', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:class fof:Person ] .`],
  ['no-mappings', 2, 'ex:a ex:b ex:c .'],
  ['subject-missing', 2, `<#It> ${SOURCE} .`],
  ['subject-missing', 3, `<#It> ${SOURCE} ;\n rml:subjectMap <#Gone> .`],
  ['subject-missing', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:class ex:A ] .`],
  ['key-twice', 3, `<#It> ${SOURCE} ; ${SUBJECT} ;\n rml:subjectMap [ rml:template "http://y/{id}" ] .`],
  [
    'subject-not-iri',
    3,
    `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/{id}" ; rml:termType rml:Literal ] .`,
  ],
  [
    'subject-not-iri',
    3,
    `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:constant "School" ; rml:termType rml:BlankNode ] .`,
  ],
  ['subject-not-iri', 3, `<#It> ${SOURCE} ;\n rml:subject "one" .`],
  ['subject-not-iri', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "people/{id}" ] .`],
  ['key-unknown', 3, `<#It> ${SOURCE} ;\n rml:subjectMp [ rml:template "http://y/{id}" ] .`],
  ['key-unknown', 4, `<#It> ${SOURCE} ;\n rml:subjectMap [\n rml:templat "http://y/{id}" ] .`],
  ['key-unknown', 2, `<#It> a rml:TripleMap ; ${SOURCE} ; ${SUBJECT} .`],
  [
    'key-unknown',
    3,
    `<#It> ${SOURCE} ; rml:subjectMap [ rml:template "http://y/{id}" ;\n rml:graph rml:defaultgraph ] .`,
  ],
  [
    'value-shape',
    3,
    `<#It> ${SOURCE} ; rml:subjectMap [ rml:template "http://y/{id}" ;\n rml:termType rml:Iri ] .`,
  ],
  ['value-shape', 3, `<#It> ${SOURCE} ; rml:subjectMap [ rml:template "http://y/{id}" ;\n rml:graph "g" ] .`],
  [
    'class-not-iri',
    3,
    `<#It> ${SOURCE} ; rml:subjectMap [ rml:template "http://y/{id}" ;\n rml:class "A" ] .`,
  ],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/{{id}}" ] .`],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/{id" ] .`],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/id}" ] .`],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/{}" ] .`],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/{a\\\\b}" ] .`],
  ['reference-syntax', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:reference <a> ] .`],
  ['iri-invalid-char', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "http://y/a b/{id}" ] .`],
  ['iri-unusual', 3, `<#It> ${SOURCE} ;\n rml:subjectMap [ rml:template "htp://y/{id}" ] .`],
  ['source-unknown', 2, `<#It> ${SUBJECT} .`],
  ['source-unknown', 3, `<#It> ${SUBJECT} ;\n rml:logicalSource [ rml:source "a.csv" ] .`],
  ['source-unknown', 3, `<#It> ${SUBJECT} ;\n rml:logicalSource [ rml:referenceFormulation rml:CSV ] .`],
  ['source-unknown', 3, `<#It> ${SUBJECT} ;\n rml:logicalSource <#Gone> .`],
  ['prefix-iri-invalid', 2, `@prefix rr: <http://www.w3.org/ns/r2rml> .\n<#It> ${SOURCE} ; ${SUBJECT} .`],
  [
    'prefix-redefines-default',
    2,
    `@prefix foaf: <http://xmlns.com/foaf/01/> .\n<#It> ${SOURCE} ; ${SUBJECT} .`,
  ],
]

/** The same for one predicate-object map, whose first line is line 3. */
const BROKEN_STATEMENTS: readonly (readonly [code: string, line: number, text: string])[] = [
  ['po-shape', 3, 'rml:predicate ex:p'],
  ['po-shape', 3, 'rml:object ex:o'],
  ['predicate-not-iri', 4, '\nrml:predicate "p" ; rml:object ex:o'],
  [
    'predicate-not-iri',
    4,
    '\nrml:predicateMap [ rml:template "http://x/{p}" ; rml:termType rml:Literal ] ; rml:object ex:o',
  ],
  ['value-shape', 4, 'rml:predicate ex:p ;\nrml:objectMap [ ]'],
  ['value-shape', 4, 'rml:predicate ex:p ;\nrml:objectMap "name"'],
  [
    'value-shape',
    4,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ; rml:termType rml:IRI ; rml:language "en" ]',
  ],
  ['key-twice', 4, 'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ; rml:template "{a}" ]'],
  ['key-unknown', 4, 'rml:predicate ex:p ;\nrml:objectMap [ rml:refrence "a" ]'],
  [
    'language-invalid',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ;\nrml:language "english" ]',
  ],
  [
    'language-invalid',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ;\nrml:language "a-english" ]',
  ],
  [
    'datatype-not-iri',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ;\nrml:datatype "integer" ]',
  ],
  [
    'datatype-unknown',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ;\nrml:datatype xsd:integr ]',
  ],
  [
    'constant-ill-typed',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:datatype xsd:integer ;\nrml:constant "two" ]',
  ],
  ['constant-ill-typed', 4, 'rml:predicate ex:p ;\nrml:object "2020-02-30"^^xsd:date'],
  [
    'datatype-and-language',
    5,
    'rml:predicate ex:p ;\nrml:objectMap [ rml:reference "a" ; rml:datatype xsd:date ;\nrml:language "en" ]',
  ],
  ['link-unknown', 4, 'rml:predicate ex:p ;\nrml:objectMap [ rml:parentTriplesMap <#Gone> ]'],
]

/** What is refused by name. */
const UNSUPPORTED: readonly (readonly [feature: string, statement: string])[] = [
  ['functions', 'rml:predicate ex:p ; rml:objectMap [ rml:functionExecution <#f> ]'],
  ['RML-star', 'rml:predicate ex:p ; rml:objectMap [ rml:quotedTriplesMap <#It> ]'],
  [
    'collections',
    'rml:predicate ex:p ; rml:objectMap [ rml:gather ( [ rml:reference "a" ] ) ; rml:gatherAs ex:List ]',
  ],
  ['targets', 'rml:predicate ex:p ; rml:objectMap [ rml:reference "a" ; rml:logicalTarget <#t> ]'],
  ['conditions', 'rml:predicate ex:p ; rml:object 1 ; rml:condition <#c>'],
  [
    'joins',
    'rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#It> ; rml:joinCondition [ rml:child "a" ; rml:parent "b" ] ]',
  ],
  [
    'joins',
    'rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#It> ; rml:joinCondition [ rml:child "sport" ; rml:parent "sport" ] ]',
  ],
  [
    'joins',
    `rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#It> ; rml:joinCondition ${['id', 'era']
      .map(name => `[ rml:child "${name}" ; rml:parent "${name}" ]`)
      .join(', ')} ]`,
  ],
]

function diagnosticsOf(text: string): readonly Diagnostic[] {
  const { mapping, diagnostics } = readRml(text)
  if (diagnostics.some(({ severity }) => severity === 'error') !== (mapping === null))
    throw new Error('a mapping with errors is no mapping')
  return diagnostics
}

t.test('what is wrong is told on its line', async t => {
  const statements = BROKEN_STATEMENTS.map(
    ([code, line, text]) =>
      [code, line, `<#It> ${SOURCE} ; ${SUBJECT} ;\nrml:predicateObjectMap [ ${text} ] .`] as const,
  )
  for (const [code, line, broken] of [...BROKEN, ...statements]) {
    const found = diagnosticsOf(document(broken)).map(({ code, place }) => `${code} ${place.line}`)
    t.ok(found.includes(`${code} ${line}`), `${code} in line ${line}: ${broken}`, { found })
  }
  for (const [feature, statement] of UNSUPPORTED) {
    const found = diagnosticsOf(
      document(`<#It> ${SOURCE} ; ${SUBJECT} ;\nrml:predicateObjectMap [ ${statement} ] .`),
    )
    t.ok(
      found.some(
        ({ code, message, place }) => code === 'unsupported' && message.includes(feature) && place.line === 3,
      ),
      `${feature}: ${statement}`,
      { found },
    )
  }
  for (const source of [
    'rml:source "http://example.org/a.csv" ; rml:referenceFormulation rml:CSV',
    'rml:source "a.xml" ; rml:referenceFormulation rml:XPath',
    'rml:source [ <http://www.w3.org/ns/dcat#downloadURL> <http://example.org/a> ] ; rml:referenceFormulation rml:CSV',
    'rml:tableName "people" ; rml:source "a.csv" ; rml:referenceFormulation rml:CSV',
  ]) {
    const found = diagnosticsOf(document(`<#It> ${SUBJECT} ;\nrml:logicalSource [ ${source} ] .`))
    t.ok(
      found.some(({ code, place }) => code === 'unsupported' && place.line === 3),
      source,
      { found },
    )
  }
})

t.test('what RDF 1.2 adds is refused in its place', async t => {
  const rows: readonly (readonly [text: string, column: number, feature: RegExp])[] = [
    ['ex:a ex:b <<( ex:a ex:b ex:c )>> .', 11, /^Triple terms/],
    ['<< ex:a ex:b ex:c >> ex:d ex:e .', 1, /^Reified triples/],
    ['ex:a ex:b ex:c {| ex:d ex:e |} .', 16, /^Annotations/],
    ['ex:a ex:b ex:c ~ ex:d .', 16, /^Reifiers/],
    ['ex:a ex:b "x"@en--ltr .', 17, /^Languages with a direction/],
  ]
  for (const [text, column, message] of rows) {
    const found = diagnosticsOf(document(text))
    t.match(found, [{ code: 'unsupported', message, place: { line: 2, column } }], text)
    t.equal(found.length, 1, text)
  }
})

t.test('the place of a reference is that of its name', async t => {
  const text = `<#It> ${SOURCE} ; ${SUBJECT} ;\nrml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:reference\n "nam" ] ] .`
  const { mapping } = readRml(document(text))
  t.match(mapping?.resources[0]?.statements[0]?.object, {
    type: 'natural',
    place: { line: 4, column: 2, endLine: 4, endColumn: 7 },
  })
})

t.test('places have columns and paths', async t => {
  const [found] = diagnosticsOf(
    document(`<#It> ${SOURCE} ; ${SUBJECT} ;
  rml:predicateObjectMap [ rml:predicate ex:p ; rml:object 1 ], [ rml:predicate ex:p ;
    rml:objectMap [ rml:template "http://x/{a}/{{b}" ] ] .`),
  )
  t.match(found, {
    hint: undefined,
    place: {
      line: 4,
      column: 49,
      endLine: 4,
      endColumn: 50,
      path: '<#It>.predicateObjectMap[1].objectMap.template',
    },
  })
})

t.test('hostile documents are read in time', async t => {
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => make(i)).join('')
  const rows: readonly (readonly [code: string, text: string])[] = [
    ['limits', `# ${'x'.repeat(300_000)}`],
    [
      'link-unknown',
      `<#${'a'.repeat(100_000)}> ${SOURCE} ; ${SUBJECT} ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap [ rml:parentTriplesMap <#${'a'.repeat(100_001)}> ] ] .`,
    ],
    ['limits', many(250, i => `<#M${i}> ${SOURCE} ; ${SUBJECT} .\n`)],
    [
      'limits',
      `<#It> ${SOURCE} ; ${SUBJECT} ; rml:predicateObjectMap [ rml:predicate ${many(300, i => `ex:p${i},`)}ex:p ; rml:object ${many(300, i => `${i},`)}1 ] .`,
    ],
    [
      'limits',
      `${many(190, i => `<#M${i}> ${SOURCE} ; ${SUBJECT} ; rml:predicateObjectMap <#po> .\n`)}<#po> rml:predicate ex:p ; ${many(4000, i => `ex:x ${i} ; `)} rml:object 1 .`,
    ],
    ['turtle-syntax', `<#It> ex:p ${'['.repeat(50_000)}`],
    ['turtle-syntax', '"'.repeat(100_000)],
    ['reference-syntax', `<#It> ${SOURCE} ; rml:subjectMap [ rml:template "${'{'.repeat(100_000)}" ] .`],
    [
      'link-unknown',
      `<#It> ${SOURCE} ; ${SUBJECT} ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:objectMap <#It>, [ rml:parentTriplesMap <#No> ] ] .`,
    ],
  ]
  for (const [code, hostile] of rows) {
    const start = performance.now()
    const found = diagnosticsOf(document(hostile))
    t.ok(performance.now() - start < 20_000, `${code} in time`)
    t.ok(
      found.some(diagnostic => diagnostic.code === code),
      code,
      { found: found.slice(0, 3) },
    )
  }
})

t.test('templates', async t => {
  for (const name of ['a', 'a b', '{}', '\\', "$['x']"]) {
    const [part] = readTemplate(`{${escapeTemplate(name)}}`) as readonly { readonly name?: string }[]
    t.equal(part?.name, name)
  }
})

/** Every kind of term, source and statement that the intermediate form has and RML can say. */
const EVERYTHING: Mapping = {
  prefixes: { ex: 'http://example.org/', bad: 'not an iri' },
  generation: 'new',
  resources: [
    {
      key: 'person with a/slash',
      subject: iri(text('http://example.org/\u00e9/'), field('id'), text('#'), field('b c')),
      graphs: [iri(text('http://example.org/g')), iri(text('http://w3id.org/rml/defaultGraph'))],
      sources: [
        {
          path: 'a.csv',
          formulation: 'csv',
          iterator: null,
          dialect: {
            delimiter: ';',
            quote: '"',
            nulls: ['-', 'N/A'],
            trim: true,
            header: true,
            comment: '#',
            encoding: 'utf-8',
          },
        },
      ],
      statements: [
        {
          predicate: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
          object: iri(text('http://example.org/A')),
        },
        { predicate: 'http://example.org/p', object: { type: 'natural', field: 'na"me\n{x}' } },
        { predicate: 'http://example.org/p', object: { type: 'link', resource: 'other' } },
        { predicate: 'http://example.org/p', object: literal(text('say "{hi}" \\')) },
        { predicate: 'http://example.org/p', object: literal(text('')) },
        { predicate: 'http://example.org/p', object: literal(text('{'), field('a}'), text('}')) },
        { predicate: 'http://example.org/p', object: { ...literal(text('x')), language: 'en' } as TermMap },
        {
          predicate: 'http://example.org/p',
          object: { ...literal(text('1')), datatype: 'http://www.w3.org/2001/XMLSchema#byte' } as TermMap,
        },
        {
          predicate: 'http://example.org/p',
          object: { ...literal(field('a')), datatype: 'http://example.org/d' } as TermMap,
        },
        {
          predicate: 'http://example.org/p',
          object: { ...literal(field('a')), language: 'de-AT' } as TermMap,
        },
        {
          predicate: 'http://example.org/p',
          object: { ...literal(field('a'), text('!')), language: [field('l')] } as TermMap,
        },
        {
          predicate: 'http://example.org/p',
          object: { ...literal(field('a')), datatype: [text('http://d/'), field('l')] } as TermMap,
        },
        { predicate: 'http://example.org/p', object: iri(field('a')) },
        { predicate: 'http://example.org/p', object: iri(text(''), field('a')) },
        { predicate: 'http://example.org/p', object: iri(text('http://x/'), field('a')) },
        { predicate: 'http://example.org/p', object: { type: 'blank', segments: [] } },
        { predicate: 'http://example.org/p', object: { type: 'blank', segments: [text('b'), field('a')] } },
        {
          predicate: iri(text('http://p/'), field('p')),
          object: iri(text("http://example.org/a-b?c=d&e='f'#g")),
          graphs: [iri(text('http://g/'), field('g'))],
        },
      ],
    },
    {
      key: 'other',
      subject: { type: 'blank', segments: [field('o')] },
      sources: [{ path: 'a.csv', formulation: 'csv', iterator: null, dialect: { delimiter: ';' } }],
      statements: [],
    },
    {
      key: 'json',
      subject: iri(field('$.uri')),
      sources: [{ path: 'a.json', formulation: 'json', iterator: '$.x[*]' }],
      statements: [{ predicate: 'http://example.org/p', object: { type: 'natural', field: "$['a b'][*]" } }],
    },
  ],
}

/** One file for all, so that links stay within it. */
const SAME_SOURCE: Mapping = {
  ...EVERYTHING,
  resources: EVERYTHING.resources.map((rule, index) =>
    index === 1 ? { ...rule, sources: EVERYTHING.resources[0]?.sources ?? [] } : rule,
  ),
}

t.test('what is written is read again', async t => {
  for (const vocabulary of ['rml', 'r2rml-era'] as const) {
    const written = writeRml(SAME_SOURCE, { vocabulary })
    t.doesNotThrow(() => new Parser({ format: 'text/turtle', baseIRI: 'http://x/' }).parse(written))
    const again = read(written)
    t.strictSame(withoutJoins(again.resources), withoutPlaces(SAME_SOURCE.resources), vocabulary)
    t.equal(again.generation, vocabulary === 'rml' ? 'new' : 'old')
    t.equal(again.prefixes?.ex, 'http://example.org/')
    t.equal(writeRml(again, { vocabulary }), written, 'and written the same')
  }
})

t.test('a document for other engines', async t => {
  const mapping: Mapping = {
    prefixes: { schema: 'http://schema.org/' },
    resources: [
      {
        key: 'city',
        subject: iri(text('http://example.org/city/'), field('code')),
        statements: [
          {
            predicate: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
            object: iri(text('http://schema.org/City')),
          },
          { predicate: 'http://schema.org/population', object: { type: 'natural', field: 'population' } },
          { predicate: 'http://schema.org/keywords', object: { type: 'natural', field: 'tags' } },
          {
            predicate: 'http://schema.org/hasPart',
            object: { type: 'link', resource: 'country' },
            inverse: true,
          },
        ],
      },
      { key: 'country', subject: iri(text('http://example.org/country/'), field('country')), statements: [] },
    ],
  }
  const columns: readonly MappingColumn[] = [
    { name: 'code', type: 'text', multivalued: false },
    { name: 'population', type: 'int', multivalued: false },
    { name: 'tags', type: 'text', multivalued: true },
    { name: 'country', type: 'text', multivalued: false },
  ]
  const source = { path: 'cities.json', formulation: 'json', iterator: '$[*]' } as const
  t.equal(
    writeRml(mapping, { source, columns, base: 'http://example.org/mapping' }),
    `@prefix rml: <http://w3id.org/rml/> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@base <http://example.org/mapping> .

<#city> a rml:TriplesMap ;
  rml:logicalSource [
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "cities.json" ] ;
    rml:referenceFormulation rml:JSONPath ;
    rml:iterator "$[*]"
  ] ;
  rml:subjectMap [ rml:template "http://example.org/city/{$.code}" ; rml:class schema:City ] ;
  rml:predicateObjectMap [
    rml:predicate schema:population ;
    rml:objectMap [ rml:reference "$.population" ; rml:datatype xsd:integer ]
  ] ;
  rml:predicateObjectMap [
    rml:predicate schema:keywords ;
    rml:objectMap [ rml:reference "$.tags[*]" ]
  ] .

<#city-inverse-1> a rml:TriplesMap ;
  rml:logicalSource [
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "cities.json" ] ;
    rml:referenceFormulation rml:JSONPath ;
    rml:iterator "$[*]"
  ] ;
  rml:subjectMap [ rml:template "http://example.org/country/{$.country}" ] ;
  rml:predicateObjectMap [
    rml:predicate schema:hasPart ;
    rml:objectMap [
      rml:parentTriplesMap <#city> ;
      rml:joinCondition [ rml:child "$.code" ; rml:parent "$.code" ]
    ]
  ] .

<#country> a rml:TriplesMap ;
  rml:logicalSource [
    rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "cities.json" ] ;
    rml:referenceFormulation rml:JSONPath ;
    rml:iterator "$[*]"
  ] ;
  rml:subjectMap [ rml:template "http://example.org/country/{$.country}" ] .
`,
  )
})

t.test('a link over several values is written out, for a join on them would meet other records', t => {
  const written = writeRml(
    {
      resources: [
        {
          key: 'film',
          subject: iri(text('http://x/film/'), field('id')),
          statements: [{ predicate: 'http://x/genre', object: { type: 'link', resource: 'genre' } }],
        },
        { key: 'genre', subject: iri(text('http://x/genre/'), field('genres')), statements: [] },
      ],
    },
    {
      source: { path: 'films.json', formulation: 'json', iterator: '$[*]' },
      columns: [{ name: 'genres', type: 'text', multivalued: true }],
    },
  )
  t.notMatch(written, 'parentTriplesMap')
  t.match(written, 'rml:objectMap [ rml:template "http://x/genre/{$.genres[*]}" ]')
  t.end()
})

t.test('what RML cannot say is refused', async t => {
  const rule = (more: Partial<ResourceRule>): Mapping => ({
    resources: [{ key: 'it', subject: iri(text('http://x/'), field('a')), statements: [], ...more }],
  })
  const source = { path: 'a.csv', formulation: 'csv' } as const
  const rows: readonly (readonly [reason: RegExp, mapping: Mapping, options: WriteRmlOptions])[] = [
    [/needs a file/, rule({}), {}],
    [/id of the record/, rule({ subject: iri(text('http://x/'), { type: 'recordId' }) }), { source }],
    [/is a literal/, rule({ subject: { type: 'natural', field: 'a' } }), { source }],
    [
      /inverse.*literal/,
      rule({
        statements: [{ predicate: 'http://p/', object: { type: 'natural', field: 'a' }, inverse: true }],
      }),
      { source },
    ],
    [
      /old vocabulary/,
      rule({ subject: { type: 'iri', segments: [text('http://x/'), field('a')], encode: 'none' } }),
      { source, vocabulary: 'r2rml-era' },
    ],
    [
      /another file/,
      {
        resources: EVERYTHING.resources.map((resource, index) =>
          index === 1 ? { ...resource, sources: [{ ...source, path: 'b.csv', iterator: null }] } : resource,
        ),
      },
      {},
    ],
  ]
  for (const [reason, mapping, options] of rows)
    t.throws(() => writeRml(mapping, options), { message: reason })
  t.match(
    writeRml(rule({ subject: iri(text('http://x/'), { type: 'recordId' }) }), {
      source,
      recordId: 'record_id',
    }),
    /\{record_id\}/,
  )
})
