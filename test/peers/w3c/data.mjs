/** What tests are asked about, and what they expect. */
import path from 'node:path'
import { Parser } from 'n3'
import oxigraph from 'oxigraph'
import { SparqlJsonParser } from 'sparqljson-parse'
import { readExpected } from '../linked-data/results.mjs'

const FORMATS = {
  '.ttl': 'text/turtle',
  '.n3': 'text/turtle',
  '.rdf': 'application/rdf+xml',
  '.nt': 'application/n-triples',
  '.nq': 'application/n-quads',
  '.trig': 'application/trig',
}

function parse(file, suite) {
  return oxigraph.parse(suite.text(file), { format: FORMATS[path.extname(file)], base_iri: file })
}

/** A term as N-Triples; labels of blank nodes begin with what tells files apart. */
function termText(term, label) {
  if (term.termType === 'BlankNode') return `_:${label}${term.value}`
  if (term.termType !== 'Quad') return term.toString()
  return `<<( ${[term.subject, term.predicate, term.object].map(each => termText(each, label)).join(' ')} )>>`
}

/**
 * The graphs of a test as sets of lines, by name, '' for the default graph: its files, and those that its query names.
 *
 * @param from the IRIs of FROM and FROM NAMED
 */
export function graphsOf({ data, named }, from, suite) {
  const graphs = new Map([['', new Set()]])
  const add = (file, name, label) => {
    if (!graphs.has(name)) graphs.set(name, new Set())
    for (const { subject, predicate, object, graph } of parse(file, suite)) {
      const own = graph.termType === 'DefaultGraph' ? name : graph.value
      if (!graphs.has(own)) graphs.set(own, new Set())
      graphs.get(own).add(`${[subject, predicate, object].map(term => termText(term, label)).join(' ')} .\n`)
    }
  }
  for (const [at, file] of data.entries()) add(file, '', `d${at}`)
  for (const [at, { file, name }] of named.entries()) add(file, name, `n${at}`)
  for (const [at, iri] of from.entries()) if (!graphs.has(iri)) add(iri, iri, `f${at}`)
  return graphs
}

/** The result that a test expects, in the form of ../linked-data/results.mjs. */
export async function expectedOf({ result }, suite) {
  const file = suite.path(result)
  const ending = path.extname(file)
  if (ending === '.tsv') return tsvRows(suite.text(result))
  if (ending === '.csv') return { type: 'csv', text: suite.text(result) }
  if (ending === '.srx' || ending === '.srj') return readExpected(file, result)
  const lines = parse(result, suite).map(
    ({ subject, predicate, object, graph }) =>
      `${[subject, predicate, object, ...(graph.termType === 'DefaultGraph' ? [] : [graph])].map(term => termText(term, '')).join(' ')} .\n`,
  )
  return readExpected('.ttl', result, quads(lines.join('')))
}

/** N-Triples or N-Quads as quads of n3. */
export function quads(text) {
  return new Parser({ format: 'N-Quads' }).parse(text)
}

/** An answer in CSV or JSON, or as N-Triples, in the same form. */
export function answerOf(text, isGraph, format) {
  if (format === 'csv') return { type: 'csv', text }
  if (isGraph) return { type: 'graph', quads: quads(text) }
  const body = JSON.parse(text)
  if (body.boolean !== undefined) return { type: 'boolean', value: body.boolean }
  return { type: 'rows', rows: new SparqlJsonParser().parseJsonResults(body) }
}

/** Null where two texts of CSV have the same header and the same lines in any order; blank nodes are told apart by no label. */
export function csvDifference(expected, found, genid) {
  const lines = ({ text }) => {
    const [head, ...rows] = text.trim().split(/\r?\n/)
    const blank = rows.map(row =>
      row.replaceAll(/_:[^,]+/g, '_:b').replaceAll(new RegExp(`${genid}[^,]+`, 'g'), '_:b'),
    )
    return [head, ...blank.sort()].join('\n')
  }
  return lines(expected) === lines(found) ? null : `${lines(found)}\n  instead of\n${lines(expected)}`
}

/** Cells are terms of Turtle, so each is read as the object of a triple. */
function tsvRows(text) {
  const [head, ...lines] = text.split('\n').filter(line => line !== '')
  const names = head.split('\t').map(name => name.slice(1))
  const term = cell => new Parser().parse(`<urn:s> <urn:p> ${cell} .`)[0].object
  const rows = lines.map(line =>
    Object.fromEntries(
      line.split('\t').flatMap((cell, at) => (cell === '' ? [] : [[names[at], term(cell)]])),
    ),
  )
  return { type: 'rows', rows }
}
