import { memoised } from '../model/memoised.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import type { Column } from '../store/columns/column.ts'
import { type DictionarySection, datatypeOf } from '../store/columns/dictionary-parts.ts'
import { TRIPLE_TERM } from '../store/columns/file-layout.ts'
import type { GraphColumns } from '../store/columns/graph.ts'

/** The triples of a property whose subjects have a class, with statistics of their objects. */
export interface PropertyJoin {
  readonly class: string
  readonly property: string
  readonly triples: number
  /** Distinct subjects. */
  readonly subjects: number
  /** Triples whose objects have a class, by class. */
  readonly objectClasses: readonly { readonly iri: string; readonly triples: number }[]
  /** Triples whose objects are literals, by datatype. */
  readonly datatypes: readonly { readonly iri: string; readonly triples: number }[]
}

/** The set of each subject, and the classes of a set. */
export interface Candidates {
  readonly setOf: Uint32Array
  readonly classesOf: (set: number) => readonly string[]
}

/** Rows that are read before control is yielded. */
const ROWS_AT_ONCE = 20_000

/** The counts for the subjects of one set in one column. */
interface Counts {
  subjects: number
  triples: number
  /** Triples by the set of their objects, and by datatype. */
  readonly objects: Map<number, number>
  readonly datatypes: Map<string, number>
}

/** The joins of the classes of a graph through its properties, those with the most triples first. */
export async function joinsOf(
  graph: GraphColumns,
  candidates: Candidates,
  rest: () => Promise<void>,
): Promise<readonly PropertyJoin[]> {
  const joins: PropertyJoin[] = []
  for (const column of graph.columns) {
    if (column.predicate === RDF.type) continue
    const counts = new Map<number, Counts>()
    for (let first = 0; first < column.rows; first += ROWS_AT_ONCE) {
      countRows(graph, column, candidates.setOf, counts, first)
      await rest()
    }
    joins.push(...ofClasses(column.predicate, counts, candidates))
  }
  return joins.sort((a, b) => b.triples - a.triples || (a.property < b.property ? -1 : 1))
}

function countRows(
  graph: GraphColumns,
  column: Column,
  setOf: Uint32Array,
  counts: Map<number, Counts>,
  first: number,
): void {
  const end = Math.min(column.rows, first + ROWS_AT_ONCE)
  for (let row = first; row < end; row++) {
    const [from, to] = [column.startOf(row), column.endOf(row)]
    if (from === to) continue
    const set = setOf[column.subjectOf(row)] as number
    const known = memoised(counts, set, noCounts)
    known.subjects += 1
    known.triples += to - from
    for (let at = from; at < to; at++) countObject(graph, column, column.codes[at] as number, setOf, known)
  }
}

function noCounts(): Counts {
  return { subjects: 0, triples: 0, objects: new Map(), datatypes: new Map() }
}

function countObject(
  graph: GraphColumns,
  column: Column,
  code: number,
  setOf: Uint32Array,
  { objects, datatypes }: Counts,
): void {
  const part = column.dictionary.partOf(code)
  if (part.kind !== 'resource') {
    const datatype = literalDatatype(part, code)
    if (datatype !== null) datatypes.set(datatype, (datatypes.get(datatype) ?? 0) + 1)
    return
  }
  const subject = (graph.resourceSubjects[part.ids[code - part.first] as number] as number) - 1
  if (subject < 0) return
  const set = setOf[subject] as number
  objects.set(set, (objects.get(set) ?? 0) + 1)
}

/** The datatype of a literal; null for a triple term, which is in the same dictionary section. */
function literalDatatype(
  part: Exclude<DictionarySection, { kind: 'resource' }>,
  code: number,
): string | null {
  const place = code - part.first
  if (part.kind === 'text') {
    const tag = part.tags?.[place] ?? 0
    if (tag === 0) return XSD.string
    return part.languages[tag - 1]?.includes('--') ? RDF.dirLangString : RDF.langString
  }
  const datatype = datatypeOf(part, place)
  return datatype === TRIPLE_TERM ? null : datatype
}

function ofClasses(
  property: string,
  counts: ReadonlyMap<number, Counts>,
  { classesOf }: Candidates,
): readonly PropertyJoin[] {
  const found = new Map<string, Counts & { readonly classes: Map<string, number> }>()
  for (const [set, { subjects, triples, objects, datatypes }] of counts)
    for (const name of classesOf(set)) {
      const sum = memoised(found, name, () => ({ ...noCounts(), classes: new Map() }))
      sum.subjects += subjects
      sum.triples += triples
      for (const [type, n] of datatypes) sum.datatypes.set(type, (sum.datatypes.get(type) ?? 0) + n)
      for (const [object, n] of objects)
        for (const iri of classesOf(object)) sum.classes.set(iri, (sum.classes.get(iri) ?? 0) + n)
    }
  return [...found].map(([name, { subjects, triples, classes, datatypes }]) => ({
    class: name,
    property,
    triples,
    subjects,
    objectClasses: sorted(classes),
    datatypes: sorted(datatypes),
  }))
}

function sorted(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .map(([iri, triples]) => ({ iri, triples }))
    .sort((a, b) => b.triples - a.triples || (a.iri < b.iri ? -1 : 1))
}
