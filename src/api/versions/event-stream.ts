import type { ServedDataset } from '../../catalog/served.ts'
import { titleOf } from '../../model/metadata.ts'
import type { VersionDifference } from '../../publishing/versions/changes.ts'
import type { VersionManifest } from '../../publishing/versions/versions.ts'
import { iriText, termText } from '../../rdf/ntriples.ts'
import { splitTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { DCTERMS, PROV, RDF, XSD } from '../../rdf/vocab.ts'
import type { Store } from '../../store/store.ts'
import { versionMoment, versionsAddress } from './feed.ts'

/** Maximum members of a page. */
export const PAGE_MEMBERS = 500

const LDES = 'https://w3id.org/ldes#'
const TREE = 'https://w3id.org/tree#'
const DELETE = 'https://www.w3.org/ns/activitystreams#Delete'

/** Prefixes for serialising pages. */
export const STREAM_PREFIXES = {
  ldes: LDES,
  tree: TREE,
  dct: DCTERMS.title.slice(0, -'title'.length),
  prov: PROV.generatedAtTime.slice(0, -'generatedAtTime'.length),
  xsd: XSD.string.slice(0, -'string'.length),
}

/** A version as a part of the event stream: its changes, or the whole version for the oldest retained one. */
export interface StreamPart {
  readonly manifest: VersionManifest
  /** null for the oldest: all of its records are members. */
  readonly step: { readonly earlier: VersionManifest; readonly difference: VersionDifference } | null
}

/** The event stream of a dataset and its only view (LDES; TREE hypermedia). */
function streamAddresses(base: string, dataset: string) {
  const view = `${versionsAddress(base, dataset)}/ldes`
  return { view, stream: `${view}#stream` }
}

function pageAddress(base: string, part: StreamPart, page: number): string {
  const { view } = streamAddresses(base, part.manifest.dataset.id)
  // The oldest retained version lists all records; while an older one was retained, its part listed only changes.
  const name = part.step === null ? `from-${part.manifest.version}` : part.manifest.version
  return `${view}/${encodeURIComponent(name)}/${page}`
}

/** The part with a name from an address; undefined if it is not retained. */
export function partNamed(parts: readonly StreamPart[], name: string): StreamPart | undefined {
  return parts.find(
    ({ manifest, step }) => (step === null ? `from-${manifest.version}` : manifest.version) === name,
  )
}

/** Number of members for the changes of a version. */
export function changedMembers({ added, removed, after }: VersionDifference): number {
  return added.length + removed.length + after.length
}

/**
 * The root of the view: the description of the stream, and relations to the first page of each version, by its time of
 * publication. The times of members increase from page to page.
 *
 * @param parts from the oldest to the latest
 * @param counts the members of each
 */
export function rootTriples(
  base: string,
  parts: readonly [StreamPart, ...StreamPart[]],
  counts: readonly number[],
): string {
  const [oldest] = parts
  const latest = parts.at(-1) ?? oldest
  const { stream, view } = streamAddresses(base, oldest.manifest.dataset.id)
  const lines = new Lines()
  lines.add(stream, RDF.type, iri(`${LDES}EventStream`))
  lines.add(stream, DCTERMS.title, text(titleOf(latest.manifest.dataset)))
  lines.add(stream, `${LDES}timestampPath`, iri(PROV.generatedAtTime))
  lines.add(stream, `${LDES}versionOfPath`, iri(DCTERMS.isVersionOf))
  lines.add(stream, `${LDES}versionDeletePath`, iri(RDF.type))
  lines.add(stream, `${LDES}versionDeleteObject`, iri(DELETE))
  lines.add(stream, `${TREE}view`, iri(view))
  lines.add(view, RDF.type, iri(`${TREE}Node`))
  lines.add(view, RDF.type, iri(`${LDES}EventSource`))
  const policy = lines.node()
  lines.add(view, `${LDES}retentionPolicy`, policy)
  lines.add(policy, RDF.type, iri(`${LDES}PointInTimePolicy`))
  lines.add(policy, `${LDES}pointInTime`, moment(oldest.manifest))
  parts.forEach((part, at) => {
    if ((counts[at] ?? 0) > 0) addRelations(lines, view, part, pageAddress(base, part, 1))
  })
  return lines.text
}

/** Both bounds of the times of the members behind a link, so that a client interested in an interval can skip it. */
function addRelations(lines: Lines, from: string, { manifest }: StreamPart, to: string): void {
  for (const type of ['GreaterThanOrEqualToRelation', 'LessThanOrEqualToRelation']) {
    const relation = lines.node()
    lines.add(from, `${TREE}relation`, relation)
    lines.add(relation, RDF.type, iri(TREE + type))
    lines.add(relation, `${TREE}path`, iri(PROV.generatedAtTime))
    lines.add(relation, `${TREE}value`, moment(manifest))
    lines.add(relation, `${TREE}node`, iri(to))
  }
}

/** The data sources of a page of a part. */
export interface PageSource {
  readonly store: Pick<Store, 'contents'>
  readonly entry: ServedDataset
  /** The previous version; null for the oldest. */
  readonly earlier: ServedDataset | null
}

/**
 * A page of the members of a version: for each added or changed record a member with all of its facts, for each removed one
 * a member that marks the removal.
 *
 * @param page from 1 on
 */
export async function pageTriples(
  base: string,
  part: StreamPart,
  page: number,
  count: number,
  { store, entry, earlier }: PageSource,
): Promise<string> {
  const { stream } = streamAddresses(base, part.manifest.dataset.id)
  const here = pageAddress(base, part, page)
  const lines = new Lines()
  lines.add(here, RDF.type, iri(`${TREE}Node`))
  if (page * PAGE_MEMBERS < count) addRelations(lines, here, part, pageAddress(base, part, page + 1))
  const { present, gone } = subjectsOf(part, page, count)
  let number = 0
  const addMember = (subject: string): string => {
    number += 1
    // The resources of an RDF file may have foreign addresses, for which an added parameter has no meaning.
    const version =
      entry.content === 'records'
        ? `${subject}?version=${encodeURIComponent(part.manifest.version)}`
        : `${here}#${number}`
    lines.add(stream, `${TREE}member`, iri(version))
    lines.add(version, DCTERMS.isVersionOf, iri(subject))
    lines.add(version, PROV.generatedAtTime, moment(part.manifest))
    return version
  }
  const columns = await wholeColumns(store, entry)
  for (const place of present) {
    const subject = columns.subjectTerm(place)
    if (subject.type !== 'iri') continue
    const version = iriText(addMember(subject.value))
    for (const text of columns.lines(place, place + 1))
      for (const { predicate, object } of splitTriples(text))
        lines.addLine(`${version} ${predicate} ${object} .\n`)
  }
  if (gone.length === 0 || earlier === null) return lines.text
  const before = await store.contents(earlier.target.graphs.facts, [])
  for (const place of gone) {
    const subject = before.subjectTerm(place)
    if (subject.type === 'iri') lines.add(addMember(subject.value), RDF.type, iri(DELETE))
  }
  return lines.text
}

/** The graph of the records of a version, with all of its columns in memory. */
async function wholeColumns(store: PageSource['store'], { target }: ServedDataset) {
  const { columns } = await store.contents(target.graphs.facts, [])
  return store.contents(
    target.graphs.facts,
    columns.map(({ predicate }) => predicate),
  )
}

/** The subjects of a page: those of this version, and removed ones of the previous version. */
function subjectsOf({ step }: StreamPart, page: number, count: number) {
  const [from, to] = [(page - 1) * PAGE_MEMBERS, Math.min(count, page * PAGE_MEMBERS)]
  if (step === null) {
    const present = Uint32Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
    return { present, gone: new Uint32Array(0) }
  }
  const { added, removed, after } = step.difference
  const all = new Uint32Array(added.length + after.length)
  all.set(after)
  all.set(added, after.length)
  const within = (at: number) => Math.min(Math.max(at - all.length, 0), removed.length)
  return { present: all.slice(from, to), gone: removed.slice(within(from), within(to)) }
}

const iri = (value: string): Term => ({ type: 'iri', value })
const text = (value: string): Term => ({ type: 'literal', value, datatype: XSD.string, language: '' })

function moment(manifest: VersionManifest): Term {
  return { type: 'literal', value: versionMoment(manifest), datatype: XSD.dateTime, language: '' }
}

/** Writes N-Triples. */
class Lines {
  private readonly parts: string[] = []
  private nodes = 0

  node(): Term {
    this.nodes += 1
    return { type: 'blank', value: `r${this.nodes}` }
  }

  add(subject: string | Term, predicate: string, object: Term): void {
    const from = typeof subject === 'string' ? iriText(subject) : termText(subject)
    this.parts.push(`${from} ${iriText(predicate)} ${termText(object)} .\n`)
  }

  addLine(line: string): void {
    this.parts.push(line)
  }

  get text(): string {
    return this.parts.join('')
  }
}
