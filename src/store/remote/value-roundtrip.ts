import { randomUUID } from 'node:crypto'
import { CONFIG_INVALID } from '../../config/faults.ts'
import { Fault, isFault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { escapeText, termText } from '../../rdf/ntriples.ts'
import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Literal, Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { inGraph, iri, literal, select, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import { numberForm, numberOfLexical } from '../columns/lexical.ts'
import { LOAD_REFUSED } from '../faults.ts'
import type { AnswerFormat } from '../store.ts'
import type { RemoteEngine } from './engine.ts'
import { exactDoubles, readJsonSolutions } from './results.ts'
import { kindOfValue, OTHER_EXAMPLES, OTHER_KIND, VALUE_KINDS } from './value-kinds.ts'

/** How an engine changes values that are stored in it, by the kinds of value-kinds.ts. */
export interface StoredForms {
  /** Kinds whose values are changed: they are stored with datatypes of Lodestone. */
  readonly changed: readonly string[]
  /** Kinds that are preserved, but have fewer digits in answers. */
  readonly rounded: readonly string[]
  readonly takesLongIris: boolean
}

/** A datatype prefix that no engine knows, so that all keep the text unchanged. */
const ENCODED_LITERAL = 'urn:lodestone:literal:'

/** Placeholder datatype for an IRI that is too long for the engine. */
const IRI = 'iri'
const MAX_IRI = 1800
const LONG_IRI = new RegExp(`<([^>\\n]{${MAX_IRI + 1},})> \\.\\n`, 'g')
const TOO_LONG = new RegExp(`<[^>\\n]{${MAX_IRI + 1},}> <|> <[^>\\n]{${MAX_IRI + 1},}>`)

/** The end of a line whose object is a literal with a datatype. */
const TYPED = /"((?:[^"\\\n]|\\.)*)"\^\^<([^>\n]*)> \.\n/g

/** Values that an engine must preserve, or nothing can be stored in it. */
const TEXTS: readonly string[] = [
  ...['', 'Zürich', '日本語 テスト', 'a\tb\nc', 'quote " and \\ back', 'x'.repeat(20_000), '𝄞 clef'],
]

/** A value that is stored in an engine, and the kind that it represents. */
interface Example {
  readonly kind: string
  readonly term: Literal
}

const EXAMPLES: readonly Example[] = [
  ...VALUE_KINDS.flatMap(({ name, datatype, examples }) =>
    examples.map(value => ({ kind: name, term: literal(value, datatype) })),
  ),
  ...OTHER_EXAMPLES.map(([datatype, value]) => ({ kind: OTHER_KIND, term: literal(value, datatype) })),
]

const PREDICATE = iri('urn:lodestone:probe:value')

/**
 * Determines how an engine changes values: some of each kind are stored and read back. Faults: ConfigInvalid for an engine that
 * does not preserve texts; LoadRefused, StoreUnavailable.
 */
export async function findStoredForms(engine: RemoteEngine): Promise<StoredForms> {
  const graph = `urn:lodestone:probe:${randomUUID()}`
  try {
    const texts = TEXTS.map(text => literal(text))
    const isPreserved = await preserved(engine, graph, texts)
    if (isPreserved.includes(false))
      throw new Fault(CONFIG_INVALID, {
        reason: `store: the engine at ${engine.addresses.query.href} does not give texts back as they were put in`,
      })
    const changed = await changedKinds(engine, graph)
    const long = iri(`urn:lodestone:probe:${'x'.repeat(2 * MAX_IRI)}`)
    const takesLongIris = (await preservedUnlessRefused(engine, graph, [long]))[0] === true
    const isExact = exactDoubles(engine.addresses.kind) !== null && changed.includes(DOUBLES)
    return {
      changed: isExact ? changed.filter(kind => kind !== DOUBLES) : changed,
      rounded: isExact ? [DOUBLES] : [],
      takesLongIris,
    }
  } finally {
    await engine.change([{ type: 'drop', graph }])
  }
}

const DOUBLES = kindOfValue('0.1', XSD.double)

async function changedKinds(engine: RemoteEngine, graph: string): Promise<readonly string[]> {
  const kinds = [...new Set(EXAMPLES.map(({ kind }) => kind))]
  const lost = (examples: readonly Example[], isPreserved: readonly boolean[]) =>
    examples.filter((_, at) => isPreserved[at] !== true).map(({ kind }) => kind)
  const together = await preserved(
    engine,
    graph,
    EXAMPLES.map(({ term }) => term),
  ).catch(refusedAsNull)
  if (together !== null) {
    const all = new Set(lost(EXAMPLES, together))
    return kinds.filter(kind => all.has(kind))
  }
  // An engine that refuses one value refuses all values of the request.
  const changed: string[] = []
  for (const kind of kinds) {
    const examples = EXAMPLES.filter(example => example.kind === kind)
    const isPreserved = await preservedUnlessRefused(
      engine,
      graph,
      examples.map(({ term }) => term),
    )
    if (isPreserved.includes(false)) changed.push(kind)
  }
  return changed
}

async function preservedUnlessRefused(
  engine: RemoteEngine,
  graph: string,
  terms: readonly Term[],
): Promise<readonly boolean[]> {
  return (await preserved(engine, graph, terms).catch(refusedAsNull)) ?? terms.map(() => false)
}

function refusedAsNull(error: unknown): null {
  if (isFault(error, LOAD_REFUSED)) return null
  throw error
}

/** Inserts terms into an empty graph, and returns which of them come back unchanged. */
async function preserved(
  engine: RemoteEngine,
  graph: string,
  terms: readonly Term[],
): Promise<readonly boolean[]> {
  const lines = terms.map((each, at) => `<${graph}:${at}> <${PREDICATE.value}> ${termText(each)} .\n`)
  await engine.change([{ type: 'drop', graph }])
  await engine.add(graph, Buffer.from(lines.join('')))
  const [subject, value] = [variable('subject'), variable('value')]
  const text = generate(select([subject, value], inGraph(graph, triple(subject, PREDICATE, value))))
  const answer = await engine.query({ text, format: 'json', deadline: engine.deadline })
  const found = new Map(readJsonSolutions(answer).map(row => [row.subject?.value, row.value] as const))
  return terms.map((each, at) => {
    const term = found.get(`${graph}:${at}`)
    return term !== undefined && termText(canonical(term)) === termText(canonical(each))
  })
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)$/

/** A term in a canonical form of its value, where its datatype has several. */
function canonical(term: Term): Term {
  if (term.type !== 'literal') return term
  const { value, datatype } = term
  switch (datatype) {
    case XSD.integer:
    case XSD.decimal: {
      if (!NUMBER.test(value)) return term
      const [, sign = '', whole = '', part = ''] = /^([-+]?)0*(\d*)\.?(\d*?)0*$/.exec(withPoint(value)) ?? []
      return literal(`${sign === '-' ? '-' : ''}${whole}.${part}`, datatype)
    }
    case XSD.double:
    case XSD.float: {
      const number = numberOfLexical(value.trim(), 'double')
      return number === null ? term : literal(numberForm(number), datatype)
    }
    case XSD.boolean:
      return literal(lookup(BOOLEANS, value) ?? value, datatype)
    case XSD.dateTime:
      return literal(value.replace(/(\.\d*?)0+(?=Z|[-+]|$)/, '$1').replace(/[-+]00:00$/, 'Z'), datatype)
    default:
      return term
  }
}

const BOOLEANS = { '1': 'true', '0': 'false' } as const

const withPoint = (value: string) => (value.includes('.') ? value : `${value}.`)

/**
 * Encodes whole lines of N-Triples for an engine: values that it would change get a datatype of Lodestone. Faults: LoadRefused
 * for an IRI that it refuses.
 */
export function encodeLines(lines: Buffer, { changed, takesLongIris }: StoredForms): Buffer {
  if (takesLongIris && changed.length === 0) return lines
  let text = lines.toString('utf8')
  if (!takesLongIris) {
    text = text.replace(
      LONG_IRI,
      (_, each: string) => `"${escapeText(each)}"^^<${ENCODED_LITERAL}${IRI}> .\n`,
    )
    const tooLong = TOO_LONG.exec(text)
    if (tooLong !== null) {
      const reason = `the engine takes no IRI of more than ${MAX_IRI} characters as subject or predicate, and there is one that begins with ${tooLong[0].slice(0, 100)}`
      throw new Fault(LOAD_REFUSED, { reason })
    }
  }
  const isChanged = new Set(changed)
  return Buffer.from(
    text.replace(TYPED, (whole: string, quoted: string, datatype: string) => {
      if (datatype.startsWith(ENCODED_LITERAL)) return whole
      const value = quoted.includes('\\') ? parseTerm(`"${quoted}"`).value : quoted
      return isChanged.has(kindOfValue(value, datatype))
        ? `"${quoted}"^^<${ENCODED_LITERAL}${datatype}> .\n`
        : whole
    }),
  )
}

/** Decodes a term of an engine. */
export function decodeTerm(term: Term): Term {
  if (term.type !== 'literal' || !term.datatype.startsWith(ENCODED_LITERAL)) return term
  const datatype = term.datatype.slice(ENCODED_LITERAL.length)
  return datatype === IRI ? { type: 'iri', value: term.value } : literal(term.value, datatype)
}

/**
 * Finds Lodestone's datatypes in answers. Similar text within a value is not matched: there a quote, or in XML the bracket, is
 * escaped.
 */
const IN_ANSWERS: Readonly<Record<AnswerFormat, RegExp | null>> = {
  json: new RegExp(`("datatype"\\s*:\\s*")${ENCODED_LITERAL}(?!${IRI}")`, 'g'),
  xml: new RegExp(`(<literal\\s+datatype=["'])${ENCODED_LITERAL}(?!${IRI}["'])`, 'g'),
  tsv: new RegExp(`((?<=(?:^|[^\\\\])(?:\\\\\\\\)*)"\\^\\^<)${ENCODED_LITERAL}(?!${IRI}>)`, 'g'),
  nt: new RegExp(`((?<=(?:^|[^\\\\])(?:\\\\\\\\)*)"\\^\\^<)${ENCODED_LITERAL}(?!${IRI}>)`, 'g'),
  csv: null,
}

/** Restores the original datatypes in the answer of an engine. */
export function decodeAnswer(text: string, format: AnswerFormat): string {
  const pattern = IN_ANSWERS[format]
  return pattern === null || !text.includes(ENCODED_LITERAL) ? text : text.replace(pattern, '$1')
}
