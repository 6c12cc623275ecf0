import { mapConcurrently } from '../../model/bounded-concurrency.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { iriText, literalText } from '../../rdf/ntriples.ts'
import { RDF, VOID, XSD } from '../../rdf/vocab.ts'
import { COUNT_ALL, construct, inGraph, iri as named, select, triple, variable } from '../../sparql/build.ts'
import type { Store } from '../../store/store.ts'
import type { LinkSource } from './dataset.ts'
import { tripleLinesOf } from './gather.ts'

/** The triples of one dataset that have a resource as object, with one predicate. */
export interface LinkGroup {
  readonly source: LinkSource
  readonly predicate: string
  /** Their exact number. */
  readonly count: number
}

/** The requested groups; null for all. */
export interface LinkSelection {
  readonly predicate: string | null
  /** The id of a dataset. */
  readonly from: string | null
}

export function isRequested({ predicate, source }: LinkGroup, selection: LinkSelection): boolean {
  return (
    (selection.predicate === null || selection.predicate === predicate) &&
    (selection.from === null || selection.from === source.id)
  )
}

/** Some triples of a group, as N-Triples. */
export interface Links {
  readonly group: LinkGroup
  readonly triples: string
}

/** Maximum number of groups that a document describes one by one. */
const MAX_DESCRIBED = 100

const [S, P] = [variable('s'), variable('p')]

/**
 * The number of triples with a resource as object, by dataset and predicate. The order of the datasets is that of the
 * sources, the most frequent predicate of a dataset comes first.
 *
 * @param sources the only datasets that are queried: those that are visible to the caller
 */
export async function linkGroups(
  store: Store,
  sources: readonly LinkSource[],
  iri: string,
): Promise<readonly LinkGroup[]> {
  const counted = await mapConcurrently(sources, async source => {
    const projection = [P, { variable: variable('count'), aggregate: COUNT_ALL }]
    const where = inGraph(source.graph, triple(S, P, named(iri)))
    const rows = await store.select(select(projection, where, { groupBy: [P] }))
    return rows
      .flatMap(({ p, count: n }): readonly LinkGroup[] =>
        p === undefined ? [] : [{ source, predicate: p.value, count: Number(n?.value ?? 0) }],
      )
      .sort((a, b) => b.count - a.count || (a.predicate < b.predicate ? -1 : 1))
  })
  return counted.flat()
}

/** One page of the triples of some groups, which follow each other in their order. */
export async function linkPage(
  store: Store,
  groups: readonly LinkGroup[],
  iri: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<readonly Links[]> {
  const slices: { readonly group: LinkGroup; readonly offset: number; readonly limit: number }[] = []
  let before = 0
  for (const group of groups) {
    const from = Math.max(0, offset - before)
    const to = Math.min(group.count, offset + limit - before)
    if (from < to) slices.push({ group, offset: from, limit: to - from })
    before += group.count
  }
  return mapConcurrently(slices, ({ group, ...page }) => linksOf(store, group, iri, page))
}

/** The first triples of each of some groups. */
export async function linkSamples(
  store: Store,
  groups: readonly LinkGroup[],
  iri: string,
  limit: number,
): Promise<readonly Links[]> {
  return mapConcurrently(groups, group => linksOf(store, group, iri, { offset: 0, limit }))
}

async function linksOf(
  store: Store,
  group: LinkGroup,
  iri: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<Links> {
  const pattern = { subject: S, predicate: named(group.predicate), object: named(iri) } as const
  const where = inGraph(group.source.graph, triple(pattern.subject, pattern.predicate, pattern.object))
  const triples = await store.construct(construct([pattern], where, page))
  return { group, triples }
}

/** The dataset that has each of the subjects of some links: the first one that contains it. */
export function linkOriginsOf(links: readonly Links[]): ReadonlyMap<string, string> {
  const origins = new Map<string, string>()
  for (const { group, triples } of links)
    for (const line of tripleLinesOf(triples)) {
      const subject = line.slice(1, line.indexOf('>'))
      if (line.startsWith('<') && !origins.has(subject)) origins.set(subject, group.source.id)
    }
  return origins
}

/**
 * The groups as sets of links, each at the address of its first page, with the exact number of its triples (VoID, section
 * 5). At most 100 are described; the pages of a document have them all.
 */
export function linksetTriples(
  base: string,
  target: string,
  groups: readonly LinkGroup[],
  document: string,
): string {
  return groups
    .slice(0, MAX_DESCRIBED)
    .map(group => {
      const set = iriText(
        `${document}?inverse=1&predicate=${encodeURIComponent(group.predicate)}&from=${encodeURIComponent(group.source.id)}`,
      )
      return [
        `${set} <${RDF.type}> <${VOID.Linkset}> .\n`,
        `${set} <${VOID.linkPredicate}> ${iriText(group.predicate)} .\n`,
        `${set} <${VOID.subjectsTarget}> ${iriText(datasetIri(base, group.source.id))} .\n`,
        `${set} <${VOID.objectsTarget}> ${iriText(datasetIri(base, target))} .\n`,
        `${set} <${VOID.triples}> ${literalText(String(group.count), XSD.integer)} .\n`,
      ].join('')
    })
    .join('')
}
