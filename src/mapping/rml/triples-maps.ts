import { readableName } from '../../model/readable-name.ts'
import { RDF } from '../../rdf/vocab.ts'
import type { LogicalSource, TermMap } from '../ir.ts'
import { below, type Location, type Reading } from './reading.ts'
import { readLogicalSource } from './source.ts'
import { readTerm } from './terms.ts'
import { type DocumentNode, nodeId } from './turtle.ts'
import { rmlName } from './vocabulary.ts'

/** A triples map (RML-Core, "Triples Map") without its statements. */
export interface TriplesMap {
  readonly node: DocumentNode
  /** A unique name: the last part of its IRI if that is unique. */
  readonly key: string
  readonly at: Location
  /** The base for relative IRIs. */
  readonly base: string | undefined
  readonly source: LogicalSource | null
  readonly subject: TermMap | null
  readonly subjectAt: Location | undefined
  /** The subject map, if it is a node, which can have classes and graphs. */
  readonly subjectMap: { readonly node: DocumentNode; readonly at: Location } | undefined
}

/** Triples maps by the ids of their nodes. */
export type MapsById = ReadonlyMap<string, TriplesMap>

/** Properties that only triples maps have. */
const RECOGNISED: ReadonlySet<string> = new Set([
  'logicalSource',
  'logicalTable',
  'subjectMap',
  'subject',
  'predicateObjectMap',
])

/** Finds the triples maps of a document and reads their sources and subjects. */
export function triplesMaps(reading: Reading, base: string | undefined): readonly TriplesMap[] {
  const { nodes } = reading.document
  const inFunctions = functionNodes(reading)
  const found = [...nodes.values()].filter(node => isTriplesMap(node) && !inFunctions.has(node.id))
  const keys = uniqueKeys(found)
  return found.map((node, index) => readTriplesMap(reading, node, keys[index] as string, base))
}

function isTriplesMap({ properties }: DocumentNode): boolean {
  return properties.some(({ iri, object }) => {
    const name = rmlName(iri)
    if (name !== undefined) return RECOGNISED.has(name)
    return iri === RDF.type && rmlName(object.value) === 'TriplesMap'
  })
}

/** Function executions are written like triples maps; the function itself is refused where it is used. */
function functionNodes({ document }: Reading): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const { properties } of document.nodes.values())
    for (const { iri, object } of properties)
      if (/functionValue$|functionExecution$/.test(rmlName(iri) ?? '')) ids.add(nodeId(object))
  return ids
}

function uniqueKeys(found: readonly DocumentNode[]): readonly string[] {
  const short = found.map(({ term, span }) =>
    term.type === 'iri' ? localName(term.value) || term.value : `line${span.line}`,
  )
  const counts = new Map<string, number>()
  for (const key of short) counts.set(key, (counts.get(key) ?? 0) + 1)
  return short.map((key, index) => {
    const node = found[index] as DocumentNode
    return counts.get(key) === 1 ? key : node.id
  })
}

function localName(iri: string): string {
  return readableName(/[^#/:]*$/.exec(iri)?.[0] ?? '')
}

function readTriplesMap(
  reading: Reading,
  node: DocumentNode,
  key: string,
  outer: string | undefined,
): TriplesMap {
  const at: Location = {
    span: node.span,
    path: node.term.type === 'iri' ? node.term.written : `[line ${node.span.line}]`,
  }
  reading.checkNode(node, 'triples map', at)
  const base = reading.onlyValue(node, at, 'baseIRI')?.object.value ?? reading.document.base?.iri ?? outer
  const source = readLogicalSource(reading, node, at)
  const property = reading.onlyValue(node, at, 'subjectMap', 'subject')
  if (property === undefined) {
    if (reading.values(node, 'subjectMap', 'subject').length === 0)
      reading.report(
        'subject-missing',
        at,
        `${at.path} has no subject map`,
        'Add rml:subjectMap [ rml:template "…" ]',
      )
    return { node, key, at, base, source, subject: null, subjectAt: undefined, subjectMap: undefined }
  }
  const here = below(at, property)
  const isShortcut = rmlName(property.iri) === 'subject'
  const subject = readTerm({ reading, role: 'subject', at: here, base }, property, isShortcut)
  const described = isShortcut ? undefined : reading.document.nodes.get(nodeId(property.object))
  return {
    node,
    key,
    at,
    base,
    source,
    subject,
    subjectAt: here,
    subjectMap: described === undefined ? undefined : { node: described, at: here },
  }
}
