import { Parser } from 'n3'
import { RdfXmlParser } from 'rdfxml-streaming-parser'

/** What two stores answered to one request, and where the answers part. */

/** Numbers that differ less than this share of themselves differ by rounding. */
const ROUNDING = 1e-12

const isObject = value => typeof value === 'object' && value !== null

/**
 * Where two JSON values part: path, and what each has there; null where they are the same. Keys of objects count with their
 * order, because clients see it.
 *
 * @param tally counts the numbers that are only nearly the same
 */
export function jsonDifference(left, right, tally, path = '') {
  if (left === right) return null
  if (typeof left === 'number' && typeof right === 'number') {
    if (Math.abs(left - right) > ROUNDING * Math.max(Math.abs(left), Math.abs(right)))
      return { path, left, right }
    tally.rounded += 1
    return null
  }
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right))
    return { path, left, right }
  const [names, others] = [Object.keys(left), Object.keys(right)]
  for (const name of names) {
    if (!(name in right)) return { path: `${path}/${name}`, left: left[name], right: undefined }
    const apart = jsonDifference(left[name], right[name], tally, `${path}/${name}`)
    if (apart !== null) return apart
  }
  if (names.join() !== others.join()) return { path: `${path} (keys)`, left: names, right: others }
  return null
}

/** Where two texts part, part by part. */
async function textDifference(left, right, { split, sorted }) {
  if (left === right) return null
  const [lines, others] = await Promise.all([left, right].map(async text => split(text)))
  if (sorted) for (const each of [lines, others]) each.sort()
  const at = lines.findIndex((line, index) => line !== others[index])
  if (at < 0 && lines.length === others.length) return null
  const index = at < 0 ? lines.length : at
  return {
    path: `part ${index} of ${lines.length} and ${others.length}`,
    left: lines[index],
    right: others[index],
  }
}

/** Binary formats are compared as bytes. */
function bytesDifference(left, right) {
  if (left.equals(right)) return null
  return { path: 'bytes', left: `${left.length} bytes`, right: `${right.length} bytes` }
}

const termText = ({ termType, value, language, datatype }) =>
  JSON.stringify([termType, value, language, datatype?.value])
const quadText = ({ subject, predicate, object }) => [subject, predicate, object].map(termText).join(' ')
const parsed = format => text => new Parser({ format }).parse(text).map(quadText)

async function triplesOfXml(text) {
  const parser = new RdfXmlParser()
  parser.end(text)
  const triples = []
  for await (const quad of parser) triples.push(quadText(quad))
  return triples
}

/** The cells of an XML answer of SELECT or ASK, whose blanks, quotes and head are free. */
const xmlCells = text =>
  text
    .replace(/^<\?xml[^>]*\?>\s*<sparql[^>]*>/, '')
    .replace(/>\s+</g, '><')
    .replace(/<[^>]*>/g, tag => tag.replaceAll("'", '"').replace(/\s*\/>/, '/>'))
    .replace(/<head>.*?<\/head>/s, head => head.replace(/<link[^>]*>/g, ''))
    .replace(/<results[^>]*>/, '<results>')
    .trim()
    .split(/(?=<result>)/)

/** The lines of an answer in TSV; numbers and booleans may stand there without quotes and datatype. */
const tsvLines = text =>
  text
    .trimEnd()
    .split(/\r?\n/)
    .map(line =>
      line
        .split('\t')
        .map(cell =>
          cell
            .replace(
              /^"([^"]*)"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(?:integer|decimal|double|boolean)>$/,
              '$1',
            )
            .replace(/^("(?:[^"\\]|\\.)*")\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#string>$/, '$1'),
        )
        .join('\t'),
    )

/** A page as what stands between its marks: values of a property have no order, also not in its JSON-LD. */
const pageParts = text =>
  text.split(/\n|(?=<li>)|(?=<span class="badge">)/).map(part => part.replace(/<\/ul>.*|[\s,]*$/, ''))

/** What a text consists of, and whether it has an order. */
const PARTS = {
  'application/n-triples': { split: text => text.split('\n'), sorted: true },
  'application/rdf+xml': { split: triplesOfXml, sorted: true },
  'text/turtle': { split: parsed('Turtle'), sorted: true },
  'text/n3': { split: parsed('N3'), sorted: true },
  'text/html': { split: pageParts, sorted: true },
  'application/sparql-results+xml': { split: xmlCells, sorted: false },
  'text/tab-separated-values': { split: tsvLines, sorted: false },
  'text/csv': { split: text => text.trimEnd().split(/\r?\n/), sorted: false },
}
const LINES = { split: text => text.split('\n'), sorted: false }

/** JSON-LD with keys and the values of properties in order. */
function inOrder(value) {
  if (Array.isArray(value))
    return value.map(inOrder).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(name => [name, inOrder(value[name])]),
  )
}
/** An answer of SELECT or ASK without the order of keys, which is the engine's. */
function asTable({ head, results, boolean }) {
  const cell = ({ type, value, datatype, 'xml:lang': language }) => ({ type, value, datatype, language })
  const row = bindings =>
    Object.fromEntries(
      Object.keys(bindings)
        .sort()
        .map(name => [name, cell(bindings[name])]),
    )
  return { vars: head.vars, boolean, rows: results?.bindings.map(row) }
}

const TEXT = /^text\/|xml|turtle|trig|n-triples|n-quads|csv|javascript/

/** Where two answers part; null where they are the same. Triples have no order. */
export async function answerDifference(left, right, tally) {
  if (left.status !== right.status)
    return {
      path: 'status',
      left: `${left.status} ${left.body.slice(0, 300)}`,
      right: `${right.status} ${right.body.slice(0, 300)}`,
    }
  if (left.type !== right.type) return { path: 'content-type', left: left.type, right: right.type }
  const type = left.type.split(';')[0]
  const [text, other] = [left, right].map(({ body }) => body.toString())
  const [json, otherJson] = /json$/.test(type) ? [text, other].map(each => JSON.parse(each)) : []
  if (type === 'application/ld+json') return jsonDifference(inOrder(json), inOrder(otherJson), tally)
  if (type === 'application/sparql-results+json')
    return jsonDifference(asTable(json), asTable(otherJson), tally)
  if (json !== undefined) return jsonDifference(json, otherJson, tally)
  if (TEXT.test(type)) return textDifference(text, other, PARTS[type] ?? LINES)
  return bytesDifference(left.body, right.body)
}
