import { setTimeout as sleep } from 'node:timers/promises'
import type { GraphStatistics } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { turtleText } from '../../formats/turtle.ts'
import { splitTriples } from '../../rdf/ntriples-reader.ts'
import { RDF } from '../../rdf/vocab.ts'
import type { SiteServices } from '../services.ts'

/** Milliseconds for which a page waits for statistics. */
const TIMEOUT = 1500

/** Number of examples of the graph statistics that are compared to find a rich one. */
const LOOKED_AT = 12
const MAX_TRIPLES = 200

/** A resource of a dataset as Turtle, with only the prefixes that it uses. */
export interface SampleResource {
  readonly iri: string
  readonly turtle: string
}

const samples = new WeakMap<ServedDataset, Promise<SampleResource | null>>()

/** The statistics of the graph of a dataset; null while they are being computed. */
export async function graphStatisticsOf(
  { statisticsFiles }: Pick<SiteServices, 'statisticsFiles'>,
  entry: ServedDataset,
): Promise<GraphStatistics | null> {
  const late = new AbortController()
  const end = ignoreRejection(sleep(TIMEOUT, null, { signal: late.signal }), 'ended when no longer needed')
  const graphStatistics = await Promise.race([statisticsFiles.of(entry), end])
  late.abort()
  return graphStatistics ?? null
}

/** A resource that illustrates the graph: the richest of some; null if there is none. */
export function sampleResource(
  services: Pick<SiteServices, 'store'>,
  entry: ServedDataset,
  { examples }: GraphStatistics,
): Promise<SampleResource | null> {
  const known = samples.get(entry)
  if (known !== undefined) return known
  const sample = richest(services, entry, examples)
  samples.set(entry, sample)
  sample.catch(() => samples.delete(entry))
  return sample
}

async function richest(
  { store }: Pick<SiteServices, 'store'>,
  { resources, prefixes }: ServedDataset,
  examples: readonly string[],
): Promise<SampleResource | null> {
  let best: Described | null = null
  for (const iri of examples.slice(0, LOOKED_AT)) {
    const subject = { type: 'iri', value: iri } as const
    const { triples } = await store.match(resources, { subject }, { offset: 0, limit: MAX_TRIPLES })
    const found = {
      iri,
      triples,
      predicates: new Set([...splitTriples(triples)].map(each => each.predicate)).size,
    }
    if (best === null || isRicher(found, best)) best = found
  }
  return best === null ? null : { iri: best.iri, turtle: turtleOf(best.triples, prefixes) }
}

interface Described {
  readonly iri: string
  readonly triples: string
  readonly predicates: number
}

/** True if a description has more predicates, or as many in a shorter text. */
function isRicher(one: Described, other: Described): boolean {
  if (one.predicates !== other.predicates) return one.predicates > other.predicates
  return one.triples.length < other.triples.length
}

function turtleOf(triples: string, prefixes: ServedDataset['prefixes']): string {
  const body = turtleText(tidied(triples), prefixes)
    .split('\n')
    .filter(line => !line.startsWith('@prefix '))
    .join('\n')
    .trim()
  const used = Object.entries(prefixes).filter(([prefix]) =>
    new RegExp(`(?:^|[\\s^])${prefix}:`, 'm').test(body),
  )
  return `${used.map(([prefix, space]) => `@prefix ${prefix}: <${space}> .\n`).join('')}\n${body}`.trim()
}

/** Maximum characters of a literal on the page. */
const MAX_LENGTH = 300

/** Triples in the order of their predicates, classes first; long literals, mostly shapes, are truncated. */
function tidied(triples: string): string {
  const rank = (predicate: string) => (predicate === `<${RDF.type}>` ? '' : predicate)
  return [...splitTriples(triples)]
    .sort((a, b) =>
      rank(a.predicate) < rank(b.predicate) ? -1 : rank(a.predicate) > rank(b.predicate) ? 1 : 0,
    )
    .map(({ subject, predicate, object }) => `${subject} ${predicate} ${shortened(object)} .\n`)
    .join('')
}

function shortened(object: string): string {
  const end = object.lastIndexOf('"')
  if (!object.startsWith('"') || end <= MAX_LENGTH) return object
  const text = object
    .slice(1, MAX_LENGTH)
    .replace(/\\(?:u[\dA-Fa-f]{0,3}|U[\dA-Fa-f]{0,7})?$|[\ud800-\udbff]$/, '')
  return `"${text}…${object.slice(end)}`
}
