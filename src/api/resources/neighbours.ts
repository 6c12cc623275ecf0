import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import { type Gathered, lastSegment } from './document.ts'
import type { Neighbour, Neighbourhood } from './neighbourhood.ts'
import { isAddress, type ValueWriter } from './values.ts'

/** Maximum resources of each direction in a picture. */
const SHOWN = 8

/** The neighbours of a thing at a distance of one link, the first of each kind of link before the second of any kind. */
export function neighbourhoodOf(
  { thing, title, groups, links: found }: Gathered,
  own: readonly Triple[],
  values: ValueWriter,
): Neighbourhood {
  const isOther = (iri: string) => iri !== thing.iri && isAddress(iri)
  const outgoing = own.flatMap(({ predicate, object }) =>
    object.type === 'iri' && isOther(object.value) ? [{ via: predicate.value, iri: object.value }] : [],
  )
  const triples = found.map(each => each.triples).join('')
  const incoming = [...parseTriples(triples)].flatMap(({ subject, predicate }) =>
    isOther(subject.value) ? [{ via: predicate.value, iri: subject.value }] : [],
  )
  const shownIn = someOfEach(incoming)
  const shownOut = someOfEach(outgoing)
  const labels = [title, ...[...shownIn, ...shownOut].map(({ iri }) => values.label(iri))]
  const neighbour = ({ via, iri }: Link): Neighbour => {
    const label = values.label(iri)
    const isOneOfMany = labels.filter(other => other === label).length > 1
    return {
      address: values.address(iri),
      label: isOneOfMany ? `${label} (${lastSegment(iri)})` : label,
      via: values.predicateLabel(via),
    }
  }
  const links = groups.reduce((sum, { count }) => sum + count, 0)
  return {
    label: title,
    incoming: shownIn.map(neighbour),
    moreIncoming: shownIn.length < SHOWN ? 0 : links - shownIn.length,
    outgoing: shownOut.map(neighbour),
    moreOutgoing: new Set(outgoing.map(({ iri }) => iri)).size - shownOut.length,
  }
}

interface Link {
  readonly via: string
  readonly iri: string
}

/** Some links, each to another resource: the first of each kind, then the second of each, and so on. */
function someOfEach(links: readonly Link[]): readonly Link[] {
  const visible = new Set<string>()
  const kinds = new Map<string, Link[]>()
  for (const link of links) {
    if (visible.has(link.iri)) continue
    visible.add(link.iri)
    const kind = kinds.get(link.via)
    if (kind === undefined) kinds.set(link.via, [link])
    else kind.push(link)
  }
  const max = Math.max(0, ...[...kinds.values()].map(({ length }) => length))
  const turns = Array.from({ length: max }, (_, at) =>
    [...kinds.values()].flatMap(kind => kind[at] ?? []),
  ).flat()
  const chosen = new Set(turns.slice(0, SHOWN))
  return [...kinds.values()].flat().filter(link => chosen.has(link))
}
