import type { ServedDataset } from '../catalog/served.ts'
import { type Field, isNumeric } from '../model/field.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { XSD } from '../rdf/vocab.ts'

/** A question of the warm-up: an address of the Explore API that differs each turn. */
export type WarmUpQuestion = (turn: number) => string
type Parameters = (turn: number) => Readonly<Record<string, string>>

/** Maximum offset that is requested: the API has a limit. */
const PAGES = 9000

/** Questions about lists of a number of datasets. */
export function catalogQuestions(path: string, datasets: number): readonly WarmUpQuestion[] {
  const list = (make: Parameters): WarmUpQuestion => {
    return turn => `${path}/catalog/datasets?${new URLSearchParams({ ...make(turn), limit: '20' })}`
  }
  return [
    list(turn => ({ offset: String((turn * 7) % datasets) })),
    list(turn => ({ where: `"${letters(turn)}*"` })),
    list(turn => ({ where: `records_count > ${turn}`, order_by: 'modified desc' })),
    turn => `${path}/catalog/facets?${new URLSearchParams({ where: `records_count > ${turn}` })}`,
  ]
}

/** Questions about the records of a dataset. */
export function datasetQuestions(path: string, { dataset }: ServedDataset): readonly WarmUpQuestion[] {
  const place = `${path}/catalog/datasets/${encodeURIComponent(dataset.id)}`
  return questionsOf(dataset.fields).map(question => turn => `${place}/${question(turn)}`)
}

/** Questions with the operators that clients of portals use most, with different constants each turn. */
export function questionsOf(fields: readonly Field[]): readonly WarmUpQuestion[] {
  const [number] = namesOf(fields, ({ type }) => isNumeric(type))
  const [text] = namesOf(fields, ({ type, multivalued }) => type === 'text' && !multivalued)
  const [place] = namesOf(fields, ({ type }) => type === 'geo_point_2d')
  const facets = namesOf(fields, ({ annotations }) => annotations.facet !== undefined)
  const [key, second] = facets
  const questions = [
    () => ({ limit: '20' }),
    (turn: number) => ({ where: `"${letters(turn)}*"`, limit: '20' }),
    ...(number === undefined ? [] : numberQuestions(number)),
    ...(text === undefined ? [] : textQuestions(text)),
    ...(place === undefined ? [] : placeQuestions(place)),
    ...(number === undefined || key === undefined ? [] : groupQuestions(number, key, second)),
    ...(number === undefined || text === undefined || key === undefined
      ? []
      : mixedQuestions(number, text, key)),
  ].map(parameters => (turn: number) => `records?${new URLSearchParams(parameters(turn))}`)
  const list = facets.slice(0, 3).map(name => ['facet', name.slice(1, -1)])
  const filter = (turn: number) => (number === undefined ? [] : [['where', `${number} > ${turn}`]])
  if (list.length > 0) questions.push(turn => `facets?${new URLSearchParams([...list, ...filter(turn)])}`)
  return questions
}

/** Names of fields as ODSQL quotes them. */
function namesOf(fields: readonly Field[], isMeant: (field: Field) => boolean): readonly string[] {
  return fields.filter(isMeant).map(({ name }) => `\`${name}\``)
}

function numberQuestions(number: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, limit: '0' }),
    turn => ({ where: `${number} > ${turn}`, order_by: `${number} desc`, limit: '10' }),
    turn => ({
      select: `${number} * 2 as doubled`,
      order_by: `${number} + 1`,
      limit: '20',
      offset: String(turn % PAGES),
    }),
  ]
}

function textQuestions(text: string): readonly Parameters[] {
  return [
    turn => ({ order_by: text, limit: '20', offset: String(turn % PAGES) }),
    turn => ({ where: `${text} like "*${letters(turn)}*"`, limit: '20' }),
  ]
}

function placeQuestions(place: string): readonly Parameters[] {
  const corner = (turn: number) => [((turn * 37) % 160) - 80, ((turn * 61) % 340) - 170] as const
  return [
    turn => {
      const [lat, lon] = corner(turn)
      return { where: `in_bbox(${place}, ${lat}, ${lon}, ${lat + 5}, ${lon + 5})`, limit: '20' }
    },
    turn => {
      const [lat, lon] = corner(turn)
      return {
        where: `within_distance(${place}, geom'POINT(${lon} ${lat})', ${90 + (turn % 20)}km)`,
        limit: '20',
      }
    },
    turn => {
      const [lat, lon] = corner(turn)
      const shape = `POLYGON((${lon} ${lat}, ${lon + 4} ${lat}, ${lon + 2} ${lat + 3}, ${lon} ${lat}))`
      return { where: `within(${place}, geom'${shape}')`, limit: '20' }
    },
  ]
}

function groupQuestions(number: string, key: string, second: string | undefined): readonly Parameters[] {
  const groups = (select: string, keys: string): Parameters => {
    return turn => ({ select, where: `${number} > ${turn}`, group_by: keys, limit: '1000' })
  }
  const sums = `sum(${number}) as s, avg(${number}) as a, max(${number}) as m, count(*) as n`
  return [
    groups(sums, key),
    groups(`median(${number}) as m, count(distinct ${number}) as d`, key),
    ...(second === undefined ? [] : [groups('count(*) as n', `${key}, ${second}`)]),
  ]
}

function mixedQuestions(number: string, text: string, key: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, order_by: text, limit: '20' }),
    turn => ({
      where: `(${key} in ("${letters(turn)}", "${letters(turn + 1)}") or ${number} > ${turn}) and not ${key} = "a"`,
      limit: '20',
    }),
  ]
}

/** Two letters that texts may contain. */
function letters(turn: number): string {
  return String.fromCharCode(97 + (turn % 26), 97 + ((turn * 7) % 26))
}

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
