/**
 * One mapping in the forms that the engines read: a place with its city, a resource of the same record. All literals
 * that are not text have a datatype, for engines do not agree on the natural one of a CSV file.
 */
const BASE = 'http://bench.example'
const STATEMENTS = [
  ['name', null],
  ['note', null],
  ['population', 'integer'],
  ['height', 'double'],
  ['active', 'boolean'],
  ['founded', 'date'],
  ['updated', 'dateTime'],
]

const FORMULATIONS = { csv: ['csv', 'CSV', ''], json: ['jsonpath', 'JSONPath', '$[*]'] }

/** In YARRRML, of `places.csv` or `places.json`. */
export function yarrrml(format) {
  const [formulation, , iterator] = FORMULATIONS[format]
  const source = [`places.${format}~${formulation}`, ...(iterator === '' ? [] : [`'${iterator}'`])].join(', ')
  const statements = STATEMENTS.map(
    ([field, type]) => `      - [v:${field}, $(${field})${type === null ? '' : `, xsd:${type}`}]`,
  )
  return `prefixes:
  v: ${BASE}/ns#
  xsd: http://www.w3.org/2001/XMLSchema#
mappings:
  place:
    sources:
      - [${source}]
    subject: ${BASE}/place/$(id)
    predicateobjects:
      - [a, v:Place]
${statements.join('\n')}
      - [v:city, city]
  city:
    sources:
      - [${source}]
    subject: ${BASE}/city/$(city_code)
    predicateobjects:
      - [a, v:City]
      - [v:name, $(city)]
`
}

/**
 * In RML, with the vocabulary that all engines know. `isJoin` says how the link is written: as the other triples map
 * without a condition, which is the cross product of all records to some, or as the template of its subject.
 */
export function rml(format, isJoin) {
  const [, formulation, iterator] = FORMULATIONS[format]
  const source = `rml:logicalSource [ rml:source "places.${format}" ; rml:referenceFormulation ql:${formulation}${iterator === '' ? '' : ` ; rml:iterator "${iterator}"`} ]`
  const statement = (name, object) =>
    `rr:predicateObjectMap [ rr:predicate v:${name} ; rr:objectMap [ ${object} ] ]`
  const statements = STATEMENTS.map(([field, type]) =>
    statement(field, `rml:reference "${field}"${type === null ? '' : ` ; rr:datatype xsd:${type}`}`),
  )
  const link = isJoin
    ? 'rr:parentTriplesMap <http://bench.example/map#city>'
    : `rr:template "${BASE}/city/{city_code}" ; rr:termType rr:IRI`
  return `@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix v: <${BASE}/ns#> .
@base <http://bench.example/map> .

<#place> a rr:TriplesMap ; ${source} ;
  rr:subjectMap [ rr:template "${BASE}/place/{id}" ; rr:class v:Place ] ;
  ${[...statements, statement('city', link)].join(' ;\n  ')} .

<#city> a rr:TriplesMap ; ${source} ;
  rr:subjectMap [ rr:template "${BASE}/city/{city_code}" ; rr:class v:City ] ;
  ${statement('name', 'rml:reference "city"')} .
`
}
