/** Results of queries: read from the files of the W3C's tests, and held against what an engine gives. */
import { createReadStream, readFileSync } from 'node:fs'
import { DataFactory, Parser, Store } from 'n3'
import { isomorphic } from 'rdf-isomorphic'
import { SparqlJsonParser } from 'sparqljson-parse'
import { SparqlXmlParser } from 'sparqlxml-parse'

const NUMERIC = new Set(
  ['integer', 'decimal', 'double', 'float', 'int', 'long', 'nonNegativeInteger'].map(
    name => `http://www.w3.org/2001/XMLSchema#${name}`,
  ),
)

/** `{type: 'boolean' | 'rows' | 'graph', ...}` of a file of expected results, or of its quads. */
export async function readExpected(file, base, given) {
  if (file.endsWith('.ttl')) {
    const quads = given ?? new Parser({ baseIRI: base }).parse(read(file))
    return resultSet(new Store(quads)) ?? { type: 'graph', quads }
  }
  if (file.endsWith('.srj')) {
    const body = JSON.parse(read(file))
    if (body.boolean !== undefined) return { type: 'boolean', value: body.boolean }
    return { type: 'rows', rows: new SparqlJsonParser().parseJsonResults(body) }
  }
  const parser = new SparqlXmlParser()
  if (/<boolean>/.test(read(file)))
    return { type: 'boolean', value: await parser.parseXmlBooleanStream(createReadStream(file)) }
  const rows = []
  for await (const row of parser.parseXmlResultsStream(createReadStream(file))) rows.push(row)
  return { type: 'rows', rows }
}

/** Rows that are written as RDF, with the vocabulary of the tests of SPARQL 1.0. */
function resultSet(store) {
  const rs = name => `http://www.w3.org/2001/sw/DataAccess/tests/result-set#${name}`
  if (store.countQuads(null, null, rs('ResultSet'), null) === 0) return null
  const [value] = store.getObjects(null, rs('boolean'), null)
  if (value !== undefined) return { type: 'boolean', value: value.value === 'true' }
  const rows = store.getObjects(null, rs('solution'), null).map(solution =>
    Object.fromEntries(
      store.getObjects(solution, rs('binding'), null).map(binding => {
        const [name] = store.getObjects(binding, rs('variable'), null)
        const [value] = store.getObjects(binding, rs('value'), null)
        return [name.value, value]
      }),
    ),
  )
  return { type: 'rows', rows }
}

const read = file => readFileSync(file, 'utf8')

/** What an engine answers, in the same form. */
export async function readAnswer(engine, query, context) {
  const answer = await engine.query(query, context)
  switch (answer.resultType) {
    case 'boolean':
      return { type: 'boolean', value: await answer.execute() }
    case 'quads':
      return { type: 'graph', quads: await (await answer.execute()).toArray() }
    default: {
      const rows = await (await answer.execute()).toArray()
      return {
        type: 'rows',
        rows: rows.map(row => Object.fromEntries([...row].map(([name, term]) => [name.value, term]))),
      }
    }
  }
}

/** Null where both are the same, else what differs; blank nodes may stand for skolem IRIs that begin with `genid`. */
export function difference(expected, found, genid) {
  if (expected.type !== found.type) return `${found.type} instead of ${expected.type}`
  switch (expected.type) {
    case 'boolean':
      return expected.value === found.value ? null : `${found.value} instead of ${expected.value}`
    case 'graph': {
      const [one, other] = [expected.quads, found.quads].map(quads => distinct(quads.map(asBlank(genid))))
      return isomorphic(one, other)
        ? null
        : `${other.length} triples instead of ${one.length}:\n${shownQuads(other)}\n  instead of\n${shownQuads(one)}`
    }
    default: {
      const [one, other] = [expected, found].map(({ rows }) => rows.map(row => trimmed(row, genid)))
      if (one.length === other.length && matches(one, other)) return null
      return `${other.length} rows instead of ${one.length}: ${shownRows(other)} instead of ${shownRows(one)}`
    }
  }
}

const distinct = quads => [...new Store(quads)]

/** A quad whose skolem IRIs are blank nodes. */
const asBlank =
  genid =>
  ({ subject, predicate, object }) =>
    DataFactory.quad(blankOf(subject, genid), predicate, blankOf(object, genid))

function blankOf(term, genid) {
  if (term.termType === 'Quad') return asBlank(genid)(term)
  return term.termType === 'NamedNode' && term.value.startsWith(genid)
    ? DataFactory.blankNode(`g${Buffer.from(term.value).toString('hex')}`)
    : term
}

const trimmed = (row, genid) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, term]) => term !== undefined)
      .map(([name, term]) => [name.replace(/^\?/, ''), blankOf(term, genid)]),
  )

/** Whether the rows can be paired, with one pairing of blank nodes for all (backtracking: the results are small). */
function matches(expected, found, pairs = new Map()) {
  const [first, ...rest] = expected
  if (first === undefined) return true
  for (const [index, candidate] of found.entries()) {
    const paired = pairRow(first, candidate, pairs)
    if (paired !== null && matches(rest, found.toSpliced(index, 1), paired)) return true
  }
  return false
}

function pairRow(expected, found, pairs) {
  const names = Object.keys(expected)
  if (names.length !== Object.keys(found).length) return null
  let paired = pairs
  for (const name of names) {
    const [one, other] = [expected[name], found[name]]
    if (other === undefined) return null
    if (one.termType === 'BlankNode' && other.termType === 'BlankNode') {
      const known = paired.get(`>${one.value}`)
      if (known === undefined && !paired.has(`<${other.value}`))
        paired = new Map([...paired, [`>${one.value}`, other.value], [`<${other.value}`, one.value]])
      else if (known !== other.value) return null
    } else if (one.termType === 'Quad' && other.termType === 'Quad') {
      const within = pairRow(partsOf(one), partsOf(other), paired)
      if (within === null) return null
      paired = within
    } else if (!sameTerm(one, other)) return null
  }
  return paired
}

const partsOf = ({ subject, predicate, object }) => ({ subject, predicate, object })

function sameTerm(one, other) {
  if (one.termType !== other.termType) return false
  if (one.termType !== 'Literal') return one.value === other.value
  if (one.language.toLowerCase() !== other.language.toLowerCase()) return false
  if (one.datatype.value !== other.datatype.value) return false
  if ((one.direction || '') !== (other.direction || '')) return false
  if (one.value === other.value) return true
  return NUMERIC.has(one.datatype.value) && Math.abs(Number(one.value) - Number(other.value)) <= 1e-9
}

function shownTerm(term) {
  if (term.termType === 'Quad')
    return `<<( ${[term.subject, term.predicate, term.object].map(shownTerm).join(' ')} )>>`
  return term.termType === 'Literal'
    ? `"${term.value}"${term.language ? `@${term.language}` : `^^${term.datatype.value.replace(/.*#/, '')}`}`
    : `${term.termType === 'BlankNode' ? '_:' : ''}${term.value}`
}
const shownRows = rows =>
  rows
    .slice(0, 6)
    .map(
      row =>
        `{${Object.entries(row)
          .map(([name, term]) => `${name}=${shownTerm(term)}`)
          .join(' ')}}`,
    )
    .join(' ')
const shownQuads = quads =>
  quads
    .map(({ subject, predicate, object }) => `  ${[subject, predicate, object].map(shownTerm).join(' ')}`)
    .join('\n')
