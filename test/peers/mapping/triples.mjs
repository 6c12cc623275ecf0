import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
const TYPED = /^(.* )"((?:[^"\\]|\\.)*)"\^\^<([^>]*)>$/u

/** Forms of a value that are the same value: what of an output is compared. */
const CANONICAL = {
  integer: text => BigInt(text).toString(),
  double: text => String(Number(text)),
  boolean: text => ({ 1: 'true', 0: 'false' })[text] ?? text.toLowerCase(),
  dateTime: text => text.replace(/\.0+(?=Z|[+-]|$)/, '').replace(/\+00:00$/, 'Z'),
}

/**
 * Reads N-Triples: how many lines there are, the set of triples by value, and how many of them were written in another
 * form than the canonical one, or are empty literals, which are of cells without a value and left out.
 */
export async function readTriples(file) {
  const triples = new Set()
  const counts = { lines: 0, otherForm: 0, empty: 0 }
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const triple = line.replace(/\s*\.\s*$/, '')
    if (triple === '' || triple.startsWith('#')) continue
    counts.lines += 1
    const plain = unescaped(triple)
    const value = canonical(plain)
    if (value === null) counts.empty += 1
    else {
      if (value !== plain) counts.otherForm += 1
      triples.add(value)
    }
  }
  return { triples, ...counts }
}

function unescaped(text) {
  if (!text.includes('\\u') && !text.includes('\\U')) return text
  return text.replace(/\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})/g, (_, short, long) =>
    String.fromCodePoint(Number.parseInt(short ?? long, 16)),
  )
}

function canonical(triple) {
  if (triple.endsWith(' ""')) return null
  const typed = TYPED.exec(triple)
  if (typed === null) return triple
  const [, head, text, datatype] = typed
  if (text === '') return null
  const type = datatype.startsWith(XSD) ? datatype.slice(XSD.length) : ''
  if (type === 'string') return `${head}"${text}"`
  return `${head}"${CANONICAL[type]?.(text) ?? text}"^^<${datatype}>`
}

/** Triples of one set that the other lacks, and the first of them. */
export function missing(from, other) {
  let count = 0
  let first
  for (const triple of from)
    if (!other.has(triple)) {
      count += 1
      first ??= triple
    }
  return { count, first }
}
