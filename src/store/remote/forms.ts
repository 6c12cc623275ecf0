import { randomUUID } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { escapeText, termText } from '../../rdf/ntriples.ts'
import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Literal } from '../../rdf/term.ts'
import { GEO, RDF, XSD } from '../../rdf/vocab.ts'
import { inGraph, iri, literal, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import type { Engine } from './engine.ts'
import { readJsonSolutions } from './results.ts'

/** What an engine does to literals that are put into it. */
export interface KeptForms {
  /** Datatypes of which it changes common values. */
  readonly changed: readonly string[]
  /** Whether values that are very large, very exact or very old, unusual characters and long IRIs come back as they were. */
  readonly keepsUnusual: boolean
}

/** A datatype that no engine knows, so that each keeps the text as it is. */
const OPAQUE = 'urn:lodestone:literal:'

/** What stands there in place of a datatype for an IRI that is too long for the engine. */
const IRI = 'iri'
const LONGEST_IRI = 1800
const LONG_IRI = new RegExp(`<([^>\\n]{${LONGEST_IRI + 1},})> \\.\\n`, 'g')
const TOO_LONG = new RegExp(`<[^>\\n]{${LONGEST_IRI + 1},}> <|> <[^>\\n]{${LONGEST_IRI + 1},}>`)

/** The end of a line whose object is a literal with a datatype. */
const TYPED = /"((?:[^"\\\n]|\\.)*)"\^\^<([^>\n]*)> \.\n/g

const common = (datatype: string, values: readonly string[]): readonly Literal[] =>
  values.map(value => literal(value, datatype))

/** Values that every engine should give back as they were put in. */
const COMMON: readonly Literal[] = [
  ...common(XSD.string, ['', 'Zürich', '日本語 テスト', 'a\tb\nc', 'quote " and \\ back', 'x'.repeat(3000)]),
  ...common(XSD.integer, ['0', '-7', '2147483647']),
  ...common(XSD.decimal, ['1.1', '-0.000001', '12345678901.5']),
  ...common(XSD.double, ['0', '-0.5', '0.1', '1000000000000000', '48.856614']),
  ...common(XSD.boolean, ['true', 'false']),
  ...common(XSD.date, ['2024-02-29', '1600-02-29', '9999-12-31']),
  ...common(XSD.dateTime, ['2024-02-29T23:59:59Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59Z']),
  ...common(GEO.wktLiteral, ['POINT(2.3522 48.8566)', 'POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))']),
  ...common(RDF.JSON, ['[1,"é\\n",null,{"a":0.1}]']),
]

/** Values over which engines part. */
const UNUSUAL: readonly Literal[] = [
  ...common(XSD.string, ['𝄞', 'a\u0001b', '\u0085']),
  ...common(XSD.integer, ['9007199254740993', '123456789012345678901234567890', '007']),
  ...common(XSD.decimal, ['1.10', '0.1234567890123456789012345']),
  ...common(XSD.double, ['-0', 'INF', '1.0E0', '5.0E-324']),
  ...common(XSD.date, ['0987-01-01', '-0044-03-15', '2024-02-29+14:00', 'never']),
  ...common(XSD.dateTime, ['0987-01-01T00:00:00Z', '2024-02-29T12:00:00', '2024-02-29T12:00:00.1234567891Z']),
  ...common('urn:lodestone:probe', ['x']),
]

const PREDICATE = iri('urn:lodestone:probe:value')

/**
 * Finds out what an engine does to literals: some are put in and read again. Faults: ConfigInvalid for an engine that does
 * not keep plain texts or integers; LoadRefused, StoreUnavailable.
 */
export async function findKeptForms(engine: Engine): Promise<KeptForms> {
  const graph = `urn:lodestone:probe:${randomUUID()}`
  const read = async (literals: readonly Literal[]): Promise<readonly boolean[]> => {
    const lines = literals.map((each, at) => `<${graph}:${at}> <${PREDICATE.value}> ${termText(each)} .\n`)
    await engine.add(graph, Buffer.from(lines.join('')))
    const [subject, value] = [variable('subject'), variable('value')]
    const text = generate({
      type: 'select',
      projection: [{ variable: subject }, { variable: value }],
      where: [inGraph(graph, triple(subject, PREDICATE, value))],
    })
    const answer = await engine.query({ text, format: 'json', deadline: engine.deadline })
    const found = new Map(readJsonSolutions(answer).map(row => [row.subject?.value, row.value] as const))
    return literals.map((each, at) => {
      const term = found.get(`${graph}:${at}`)
      return term !== undefined && termText(term) === termText(each)
    })
  }
  try {
    const kept = await read(COMMON)
    const changed = [...new Set(COMMON.flatMap(({ datatype }, at) => (kept[at] === true ? [] : [datatype])))]
    const lacking = [XSD.string, XSD.integer].find(datatype => changed.includes(datatype))
    if (lacking !== undefined)
      throw new Fault('ConfigInvalid', {
        reason: `store: the engine at ${engine.addresses.query.href} does not give values of ${lacking} back as they were put in`,
      })
    await engine.change([{ type: 'drop', graph }])
    const keepsUnusual = await read(UNUSUAL).then(
      each => each.every(Boolean),
      error => {
        if (error instanceof Fault && error.code === 'LoadRefused') return false
        throw error
      },
    )
    return { changed, keepsUnusual }
  } finally {
    await engine.change([{ type: 'drop', graph }])
  }
}

/**
 * Whole lines of N-Triples as an engine is to have them: what it would change stands under a datatype of Lodestone's own.
 * Faults: LoadRefused for an IRI that it does not take.
 */
export function encodeLines(lines: Buffer, { changed, keepsUnusual }: KeptForms): Buffer {
  if (keepsUnusual && changed.length === 0) return lines
  let text = lines.toString('utf8')
  if (!keepsUnusual) {
    text = text.replace(LONG_IRI, (_, each: string) => `"${escapeText(each)}"^^<${OPAQUE}${IRI}> .\n`)
    const tooLong = TOO_LONG.exec(text)
    if (tooLong !== null) {
      const reason = `the engine takes no IRI of more than ${LONGEST_IRI} characters as subject or predicate, and there is one that begins with ${tooLong[0].slice(0, 100)}`
      throw new Fault('LoadRefused', { reason })
    }
  }
  const isOpaque = (value: string, datatype: string) =>
    changed.includes(datatype) || (!keepsUnusual && !isPlainLiteral(value, datatype))
  return Buffer.from(
    text.replace(TYPED, (whole: string, quoted: string, datatype: string) => {
      if (datatype.startsWith(OPAQUE)) return whole
      const value = quoted.includes('\\') ? parseTerm(`"${quoted}"`).value : quoted
      return isOpaque(value, datatype) ? `"${quoted}"^^<${OPAQUE}${datatype}> .\n` : whole
    }),
  )
}

/** Digits that every engine keeps of a decimal. */
const DIGITS = 15
/** Some engines put older days into the calendar that was used then. */
const GREGORIAN = '1583'
const MOST_INTEGER = 2 ** 31 - 1

/** True for a literal of a kind that engines handle alike, whose value is in canonical form. */
function isPlainLiteral(value: string, datatype: string): boolean {
  switch (datatype) {
    case XSD.string:
    case RDF.JSON:
      return true
    case XSD.integer:
      return /^(?:0|-?[1-9]\d{0,9})$/.test(value) && Math.abs(Number(value)) <= MOST_INTEGER
    case XSD.decimal:
      return value.replace(/[-.]/g, '').replace(/^0+/, '').length <= DIGITS
    case XSD.double:
      return value !== '-0' && Number.isFinite(Number(value))
    case XSD.boolean:
      return value === 'true' || value === 'false'
    case XSD.date:
      return /^\d{4}-\d\d-\d\d$/.test(value) && value >= GREGORIAN
    case XSD.dateTime:
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(value) && value >= GREGORIAN
    default:
      return false
  }
}
