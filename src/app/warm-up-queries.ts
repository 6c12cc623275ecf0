import { iriText, literalText } from '../rdf/ntriples.ts'
import { XSD } from '../rdf/vocab.ts'

/** A query that differs each turn. */
type Query = (turn: number) => string

/** One predicate of a dataset with an object of it, as the results of {@link PREDICATES} have them. */
interface PredicateRow {
  readonly p: { readonly value: string }
  readonly s: { readonly type: string; readonly value: string }
  readonly o: { readonly type: string; readonly value: string; readonly datatype?: string }
}

/** The predicates that most triples have, each with a subject and an object. */
export const PREDICATES =
  'SELECT ?p (COUNT(*) AS ?n) (SAMPLE(?y) AS ?s) (SAMPLE(?x) AS ?o) { ?y ?p ?x } GROUP BY ?p ORDER BY DESC(?n) LIMIT 20'

const NUMERIC: ReadonlySet<string> = new Set([XSD.integer, XSD.decimal, XSD.double])

/**
 * The most frequent kinds of endpoint queries, stars, joins and counts, for the predicates of a dataset.
 *
 * @param rows the bindings of {@link PREDICATES} in SPARQL 1.1 Query Results JSON
 */
export function queriesOf(rows: readonly PredicateRow[]): readonly Query[] {
  const number = rows.find(({ o }) => NUMERIC.has(o.datatype ?? ''))
  const text = rows.find(({ o }) => o.type === 'literal' && (o.datatype ?? XSD.string) === XSD.string)
  const links = rows.filter(({ o }) => o.type === 'uri')
  const queries: Query[] = []
  for (const { p, o } of links.slice(0, 4)) {
    const [predicate, object] = [iriText(p.value), iriText(o.value)]
    queries.push(turn => `SELECT ?p (COUNT(*) AS ?n${turn}) { ?s ?p ${object} } GROUP BY ?p`)
    if (number !== undefined) queries.push(...numberQueries(predicate, iriText(number.p.value)))
    if (number !== undefined && text !== undefined)
      queries.push(
        turn =>
          `SELECT ?l ?v { ?x ${predicate} ${object} ; ${iriText(number.p.value)} ?v ; ${iriText(text.p.value)} ?l } ORDER BY DESC(?v) LIMIT ${10 + (turn % 50)}`,
      )
    if (text !== undefined) queries.push(...textQueries(predicate, object, iriText(text.p.value)))
  }
  const named = rows.filter(({ s }) => s.type === 'uri')
  if (named.length > 0)
    queries.push(turn => {
      const { s } = named[turn % named.length] as PredicateRow
      return `SELECT ?p ?o { ${iriText(s.value)} ?p ?o } LIMIT ${1000 + turn}`
    })
  if (number !== undefined && text !== undefined) {
    const [value, label] = [iriText(number.p.value), iriText(text.p.value)]
    queries.push(
      turn => `SELECT ?l ?v { ?x ${value} ?v ; ${label} ?l } ORDER BY DESC(?v) LIMIT ${20 + (turn % 50)}`,
      turn =>
        `SELECT ?l { { ?x ${value} ${turn} ; ${label} ?l } UNION { ?x ${label} ?l FILTER(STRSTARTS(STR(?l), ${literalText(`x${turn}`)})) } } LIMIT 20`,
    )
  }
  return queries.map(query => turn => PROLOGUE + query(turn))
}

/** Prefixes with which users begin all their queries. */
const PROLOGUE = `PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`

function numberQueries(key: string, value: string): readonly Query[] {
  return [
    turn =>
      `SELECT ?k (COUNT(*) AS ?n) (SUM(?v) AS ?s) { ?x ${key} ?k ; ${value} ?v FILTER(?v > ${turn}) } GROUP BY ?k ORDER BY DESC(?n) LIMIT 100`,
    turn =>
      `SELECT ?k (AVG(xsd:double(?v)) AS ?m) { ?x ${key} ?k ; ${value} ?v FILTER(ISNUMERIC(?v) && ?v > ${turn}) } GROUP BY ?k HAVING (COUNT(*) > ${turn % 50})`,
    turn => `SELECT (COUNT(*) AS ?n) { ?x ${value} ?v FILTER(?v >= ${turn} && ?v < ${1000 + turn}) }`,
  ]
}

function textQueries(key: string, object: string, label: string): readonly Query[] {
  return [
    turn => `SELECT ?x ?l { ?x ${key} ${object} ; ${label} ?l } ORDER BY ?l LIMIT ${20 + (turn % 50)}`,
    turn =>
      `SELECT ?x ?l { ?x ${key} ?k OPTIONAL { ?x ${label} ?l FILTER(STRLEN(STR(?l)) > ${turn % 50}) } } LIMIT 100`,
    turn => `SELECT ?x { ?x ${label} ?l FILTER NOT EXISTS { ?x ${key} ?k } } LIMIT ${20 + (turn % 50)}`,
  ]
}
