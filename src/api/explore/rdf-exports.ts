import type { FastifyInstance } from 'fastify'
import { fieldWith, isWholeRecord, mappedTriples, matchingTriples } from '../../catalog/record-triples.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { BAD_REQUEST, Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { exportFormats } from '../../formats/export-formats.ts'
import { jsonldInForm, jsonldStream } from '../../formats/jsonld-forms.ts'
import { neededPrefixes, noTripleTerms, type TermNames } from '../../formats/jsonld-node.ts'
import { rdfxml, splitIri } from '../../formats/rdfxml.ts'
import { turtle } from '../../formats/turtle.ts'
import { isFresh, setNoStore, varyBy } from '../../http/conditional.ts'
import { jsonldForm, jsonldType } from '../../http/negotiate.ts'
import { refuseParameters } from '../../http/parameters.ts'
import { begun } from '../../http/pieces.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import { usedProperties } from '../../mapping/ir.ts'
import { isXmlText } from '../../model/xml.ts'
import { compileFor } from '../../publishing/graphs/mapped-graphs.ts'
import { publishedTriples } from '../../publishing/versions/graph-sources.ts'
import type { Executor } from '../../query/execute/executor.ts'
import type { RecordQuery } from '../../query/plan.ts'
import { fieldIri } from '../../rdf/minted-iris.ts'
import { hasTripleTerms, parseTriples, withTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { planExport, sendFile } from './exports.ts'
import { readParameter } from './read-parameters.ts'

const NTRIPLES_TYPE = 'application/n-triples; charset=utf-8'

/** Converts a stream of N-Triples to another serialisation of the same graph. */
type RdfWriter = (pieces: AsyncIterable<string>, base: string, entry: ServedDataset) => AsyncIterable<string>

/** The forms of RDF in which datasets are exported (REST 6.1); n3 is N-Triples, which are N3 too unless they have triple terms. */
const RDF_WRITERS: Readonly<Record<string, RdfWriter>> = {
  turtle: (pieces, _, { prefixes }) => turtle(pieces, prefixes),
  rdfxml: (pieces, _, { prefixes }) => rdfxml(pieces, prefixes),
  n3: pieces => pieces,
  jsonld: (pieces, base, entry) => jsonldStream(pieces, namesOf(entry, base)),
}

/** How predicates are shortened: by the names of their fields, or with the prefixes of the mapping that they need. */
function namesOf({ dataset, mapping, prefixes }: ServedDataset, base: string): TermNames {
  if (mapping === null)
    return { terms: dataset.fields.map(({ name }) => [name, fieldIri(base, dataset.id, name)]) }
  return { prefixes: neededPrefixes(prefixes, usedProperties(mapping.mapping)) }
}

/** Finds, in JavaScript as in SPARQL, the characters that no XML document can hold. */
const NO_XML = `[${Array.from({ length: 0x10000 }, (_, code) => code)
  .filter(code => code < 0xd800 || code > 0xdfff)
  .map(code => String.fromCharCode(code))
  .filter(character => !isXmlText(character))
  .join('')}]`

/** The graph of a dataset, or of those of its records that a query finds, as a file (REST 6.1). */
export function rdfExportRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { base, dialect } = endpoint.options
  const unwritable = new UnwritableTexts()
  const tripleTerms = new Found<boolean>()

  for (const [format, write] of Object.entries(RDF_WRITERS))
    app.get<Route<'dataset'>>(`/catalog/datasets/:dataset/exports/${format}`, async (request, reply) => {
      const { query } = request
      const entry = endpoint.dataset(request)
      const { dataset, version } = entry
      const served = exportFormats(dialect.name, dataset.fields).find(({ name }) => name === format)
      if (served === undefined) throw new Error(`${format} is no format of ${dialect.name}`)
      const form = format === 'jsonld' ? jsonldForm(request.headers.accept) : null
      const executor = endpoint.executor()
      const plan = readPlan(query, entry, endpoint, executor)
      const mediaType = form === null ? served.mediaType : `${jsonldType(form)}; charset=utf-8`
      const file = {
        name: `${dataset.id}.${served.extension ?? format}`,
        compressed: readParameter(query, 'compressed'),
      }
      if (entry.content === 'rdf' && !isWholeRecord(plan)) throw noRecords()
      // JSON-LD is written in the form that the Accept header requests.
      const isNegotiated = format === 'jsonld'
      if (!isWholeRecord(plan)) varyBy(setNoStore(reply), ...(isNegotiated ? ['Accept'] : []))
      else if (isFresh(request, reply, version, isNegotiated ? mediaType : '')) return reply.code(304).send()
      const triples = () => triplesOf(entry, plan, endpoint, executor)
      // Only files of RDF may have triple terms.
      const areTripleTerms = async () =>
        entry.content === 'rdf' && tripleTerms.of(entry, () => someTripleTerm(triples()))
      const problem =
        format === 'rdfxml'
          ? (nameless(entry, base) ??
            (await unwritable.problem(entry, isWholeRecord(plan), triples, executor)))
          : format === 'jsonld' && (await areTripleTerms())
            ? noTripleTerms().message
            : null
      if (problem !== null) throw new Fault(UNPROCESSABLE_ENTITY, { reason: problem })
      const isPlain = format === 'n3' && (await areTripleTerms())
      const pieces = await begun(triples())
      const written =
        form === null ? write(pieces, base, entry) : jsonldInForm(form, pieces, namesOf(entry, base))
      return sendFile(reply, written, { ...file, mediaType: isPlain ? NTRIPLES_TYPE : mediaType }, pieces)
    })
}

/** The triples of the records of a query; the published triples unchanged if all records are exported and that is no more work. */
function triplesOf(
  { content, dataset, dump, mapping, target }: ServedDataset,
  plan: RecordQuery,
  { options: { base, store } }: ExploreEndpoint,
  executor: Executor,
): AsyncGenerator<string> {
  if (dump !== null && (content === 'rdf' || (mapping !== null && isWholeRecord(plan))))
    return publishedTriples(dump)
  if (mapping === null) return matchingTriples(plan, target, store, executor)
  const place = { base, dataset: dataset.id, fields: dataset.fields }
  return mappedTriples(plan, target, executor, compileFor(mapping.mapping, place))
}

function readPlan(
  query: QueryParameters,
  entry: ServedDataset,
  endpoint: ExploreEndpoint,
  executor: Executor,
): RecordQuery {
  refuseParameters(query, ['select', 'group_by'], 'an RDF export has the triples of whole records')
  const { plan } = planExport(query, entry, endpoint, executor)
  if (plan.type !== 'records') throw new Error('a query without groups became one for groups')
  return plan
}

function noRecords(): Fault {
  return new Fault(BAD_REQUEST, {
    reason: 'This dataset is RDF and has no records to choose from: its export is all of its triples.',
  })
}

/** The error for a dataset with predicates that RDF/XML cannot write as names; null for none. */
function nameless({ dataset: { id, fields }, mapping }: ServedDataset, base: string): string | null {
  const predicates =
    mapping === null ? fields.map(({ name }) => fieldIri(base, id, name)) : usedProperties(mapping.mapping)
  const predicate = predicates.find(iri => splitIri(iri) === null)
  if (predicate === undefined) return null
  return withoutName(predicate)
}

function withoutName(predicate: string): string {
  return `The predicate ${predicate} has no name in RDF/XML. Ask for turtle, n3 or jsonld instead.`
}

/** Finds texts that XML does not permit, before the first byte is sent. */
class UnwritableTexts {
  private readonly fields = new Found<string | null>()
  private readonly dumps = new Found<string | null>()

  /** The error in the exported records; null for none. */
  async problem(
    entry: ServedDataset,
    isWhole: boolean,
    triples: () => AsyncIterable<string>,
    executor: Executor,
  ): Promise<string | null> {
    if (entry.content === 'rdf' || entry.mapping !== null) {
      const search = () => firstProblem(triples())
      return isWhole ? this.dumps.of(entry, search) : search()
    }
    const field = await this.fields.of(
      entry,
      async () => (await fieldWith(NO_XML, entry.target, executor))?.name ?? null,
    )
    return field === null ? null : firstProblem(triples())
  }
}

/** What searches of versions found: each version is searched once. */
class Found<Value> {
  private readonly known = new WeakMap<ServedDataset, { readonly value: Value }>()

  async of(entry: ServedDataset, search: () => Promise<Value>): Promise<Value> {
    const found = this.known.get(entry) ?? { value: await search() }
    this.known.set(entry, found)
    return found.value
  }
}

async function someTripleTerm(pieces: AsyncIterable<string>): Promise<boolean> {
  for await (const piece of pieces) if (hasTripleTerms(piece)) return true
  return false
}

/** The error of the first triple that RDF/XML cannot write; null if it can write all. */
async function firstProblem(pieces: AsyncIterable<string>): Promise<string | null> {
  const named = new Set<string>()
  for await (const piece of pieces)
    for (const { subject, predicate, object } of [...parseTriples(piece)].flatMap(each => [
      ...withTripleTerms(each),
    ])) {
      if (!named.has(predicate.value)) {
        if (splitIri(predicate.value) === null) return withoutName(predicate.value)
        named.add(predicate.value)
      }
      if (!isXmlText(object.value))
        return `The value of ${predicate.value} of ${subject.value} has a character that XML cannot hold. Ask for turtle, n3 or jsonld instead.`
    }
  return null
}
