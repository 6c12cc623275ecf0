import { Fault } from '../../errors/errors.ts'
import { memoised } from '../../model/memoised.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { datasetIri, fieldIri } from '../../rdf/minted-iris.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import type { Literal } from '../../rdf/term.ts'
import { RDF } from '../../rdf/vocab.ts'
import {
  among,
  construct,
  filter,
  inGraph,
  join,
  literal,
  iri as named,
  oneOf,
  select,
  triple,
  variable,
} from '../../sparql/build.ts'
import type { Store } from '../../store/store.ts'
import { SPACES } from './address.ts'
import { NAMING, namingField, type ResourceDataset, type VisibleContext } from './dataset.ts'

/** Maximum number of triples in a document about one resource itself, and about its nested nodes. */
export const MAX_TRIPLES = 10_000
/** Maximum depth of nested nodes; deeper ones are only linked. */
const MAX_DEPTH = 3
/** Maximum number of nodes of one document; each cell of a list counts. */
const MAX_NODES = 1000
/** Maximum number of steps into a document; a list needs one for each of its cells. */
const MAX_STEPS = 64
/** Maximum number of resources whose names are looked up, and of other datasets that are queried for them. */
const MAX_NAMED = 400
const MAX_DATASETS = 8
/** Number of example resources, and of subjects that are searched for them. */
const EXAMPLES = 5
const SUBJECTS = 30

const [S, P, O] = [variable('s'), variable('p'), variable('o')]

/** Names by IRI, the preferred first. */
export type LabelNames = ReadonlyMap<string, readonly Literal[]>

/** True if a triple of the graph has the IRI as subject or object. */
export async function isMentioned(store: Store, graph: string, iri: string): Promise<boolean> {
  const node = named(iri)
  const inputs = [inGraph(graph, triple(node, P, O)), inGraph(graph, triple(S, P, node))]
  return (await store.select(select([P], { type: 'union', inputs }, { limit: 1 }))).length > 0
}

/** True if a triple of the graph has the IRI as predicate. */
export async function isPredicate(store: Store, graph: string, iri: string): Promise<boolean> {
  const where = inGraph(graph, triple(S, named(iri), O))
  return (await store.select(select([S], where, { limit: 1 }))).length > 0
}

/**
 * The IRIs of a graph that are an IRI with a fragment, in their order. Clients do not send fragments, so the document about
 * the IRI also describes these (W3C, "Cool URIs for the Semantic Web", section 4.1).
 */
export async function withFragments(store: Store, graph: string, iri: string): Promise<readonly string[]> {
  const { resources } = await store.contents(graph, [])
  const [from, to] = resources.rangeOfPrefix(`${iri}#`)
  return Array.from({ length: Math.min(to - from, MAX_NODES) }, (_, at) => resources.term(from + at).value)
}

/** N-Triples about the subjects, in their original order. */
export async function triplesAbout(
  store: Store,
  graph: string,
  subjects: readonly string[],
): Promise<string> {
  const [only] = subjects
  if (only === undefined) return ''
  const subject = subjects.length === 1 ? named(only) : S
  const about = inGraph(graph, triple(subject, P, O))
  const where = subject === S ? join(oneOf(S, subjects.map(named)), about) : about
  return store.construct(construct([{ subject, predicate: P, object: O }], where, { limit: MAX_TRIPLES }))
}

/** N-Triples about the IRI with fragments, and about the blank nodes that triples refer to, recursively. */
export async function nestedTriples(
  { base, store }: Pick<VisibleContext, 'base' | 'store'>,
  graph: string,
  iri: string,
  own: string,
): Promise<string> {
  const space = `${base}${SPACES.nodes.things}`
  const parts = await withFragments(store, graph, iri)
  const depths = new Map([iri, ...parts].map(node => [node, 0]))
  const about = await triplesAbout(store, graph, parts)
  const pieces = [about]
  let last = own + about
  for (let step = 0; step < MAX_STEPS && last !== ''; step++) {
    const next: string[] = []
    for (const { subject, predicate, object } of parseTriples(last)) {
      if (object.type !== 'iri' || depths.has(object.value) || !object.value.startsWith(space)) continue
      const depth = (depths.get(subject.value) ?? 0) + (predicate.value === RDF.rest ? 0 : 1)
      if (depth > MAX_DEPTH || depths.size > MAX_NODES) continue
      depths.set(object.value, depth)
      next.push(object.value)
    }
    last = await triplesAbout(store, graph, next)
    pieces.push(last)
  }
  return pieces.join('')
}

/** Some example resources of a dataset: the first of its own, in the order of its source. */
export async function exampleResources(
  { base, store }: Pick<VisibleContext, 'base' | 'store'>,
  { id, graph }: ResourceDataset,
): Promise<readonly string[]> {
  const columns = await store.contents(graph, [])
  const subjects = Array.from({ length: Math.min(SUBJECTS, columns.subjects) }, (_, at) =>
    columns.subjectTerm(at),
  )
  const iris = subjects.flatMap(subject => (subject.type === 'iri' ? [subject.value] : []))
  const own = iris.filter(iri => iri.startsWith(`${datasetIri(base, id)}/`))
  return (own.length > 0 ? own : iris).slice(0, EXAMPLES)
}

/**
 * The names of resources: from the dataset, or, for resources of another dataset of the portal, from that. A record is named
 * by the naming field of its dataset, a field and a dataset by their titles.
 *
 * @param origins the ids of datasets that mention resources whose IRIs do not identify their dataset
 */
export async function namesOf(
  { base, store, dataset: find }: VisibleContext,
  dataset: ResourceDataset,
  iris: Iterable<string>,
  origins: ReadonlyMap<string, string> = new Map(),
): Promise<LabelNames> {
  const names = new Map<string, readonly Literal[]>()
  const requested = [...new Set(iris)].filter(isIri).slice(0, MAX_NAMED)
  const byDataset = new Map<ResourceDataset, string[]>([[dataset, []]])
  const others = new Map<string, ResourceDataset | null>([[dataset.id, dataset]])
  for (const iri of requested) {
    const owner = ownerOf(iri)
    const title = owner === null ? undefined : titleWithin(owner, iri)
    if (title !== undefined) names.set(iri, [literal(title)])
    else memoised(byDataset, owner ?? dataset, () => []).push(iri)
  }
  for (const [owner, some] of byDataset) await addNames(owner, some)
  return names

  function ownerOf(iri: string): ResourceDataset | null {
    const space = [SPACES.resources, SPACES.ontologies].find(({ things }) => iri.startsWith(base + things))
    const id =
      space === undefined
        ? origins.get(iri)
        : (iri.slice(base.length + space.things.length).split(/[/#]/, 1)[0] ?? '')
    if (id === undefined) return null
    const known = others.get(id)
    if (known !== undefined || others.size > MAX_DATASETS) return known ?? null
    const found = datasetOrNull(find, id)
    others.set(id, found)
    return found
  }

  function titleWithin(owner: ResourceDataset, iri: string): string | undefined {
    return owner.labels.get(iri) ?? (iri === datasetIri(base, owner.id) ? owner.title : undefined)
  }

  async function addNames(owner: ResourceDataset, some: readonly string[]): Promise<void> {
    if (some.length === 0) return
    const field = namingField(owner.fields)
    const predicates = [...NAMING, ...(field === undefined ? [] : [fieldIri(base, owner.id, field.name)])]
    const about = join(oneOf(S, some.map(named)), inGraph(owner.graph, triple(S, P, O)))
    const where = filter(about, among(P, predicates.map(named)))
    const template = [{ subject: S, predicate: P, object: O }]
    const text = await store.construct(construct(template, where, { limit: MAX_TRIPLES }))
    for (const [iri, described] of namesIn(parseTriples(text), predicates)) names.set(iri, described)
  }
}

/** The names that triples give their subjects, at most one a language. */
export function namesIn(triples: Iterable<Triple>, predicates: readonly string[]): LabelNames {
  const found = new Map<string, { readonly rank: number; readonly name: Literal }[]>()
  for (const { subject, predicate, object } of triples) {
    const rank = predicates.indexOf(predicate.value)
    if (rank < 0 || object.type !== 'literal' || object.value.trim() === '') continue
    memoised(found, subject.value, () => []).push({ rank, name: object })
  }
  const best = (group: readonly { readonly rank: number; readonly name: Literal }[]) => {
    const byLanguage = new Map<string, Literal>()
    for (const { name } of [...group].sort((a, b) => a.rank - b.rank))
      if (!byLanguage.has(name.language)) byLanguage.set(name.language, name)
    return [...byLanguage.values()]
  }
  return new Map([...found].map(([iri, group]) => [iri, best(group)]))
}

/** A dataset that is served now; null for any other id. */
function datasetOrNull(find: (id: string) => ResourceDataset, id: string): ResourceDataset | null {
  try {
    return find(id)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** The lines of a text, each with its end. */
export function tripleLinesOf(text: string): string[] {
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map(line => `${line}\n`)
}
