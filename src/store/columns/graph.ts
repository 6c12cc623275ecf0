import { memoised } from '../../model/memoised.ts'
import { termText } from '../../rdf/ntriples.ts'
import type { NamedNode, Term } from '../../rdf/term.ts'
import { sharedUint32 } from './bytes.ts'
import { Column } from './column.ts'
import { Dictionary } from './dictionary.ts'
import type { GraphHeader } from './file-layout.ts'
import { Resources } from './resources.ts'
import { Derived, readHeader, SectionFile, type SectionSource } from './sections.ts'

/** The columns of one graph. */
export class GraphColumns {
  readonly header: GraphHeader
  readonly subjects: number
  readonly triples: number
  readonly resources: Resources
  /** In the order of their first triples. */
  readonly columns: readonly Column[]
  readonly derived: Derived
  private readonly source: SectionSource
  private readonly byPredicate: ReadonlyMap<string, Column>
  private cachedSubjectResources: Uint32Array | null = null
  private cachedResourceSubjects: Uint32Array | null = null
  private cachedTripleEnds: Uint32Array | null = null

  constructor(header: GraphHeader, source: SectionSource, derived = new Derived()) {
    this.header = header
    this.source = source
    this.derived = derived
    this.subjects = header.subjects
    this.triples = header.triples
    this.resources = new Resources(header.resources, source)
    const dictionaries = header.dictionaries.map(each => new Dictionary(each, source, this.resources))
    this.columns = header.columns.map(
      (column, number) =>
        new Column(
          number,
          column,
          { subjects: header.subjects, source, derived },
          dictionaries[column.dictionary] as Dictionary,
        ),
    )
    this.byPredicate = new Map(this.columns.map(column => [column.predicate, column]))
  }

  column(predicate: string): Column | undefined {
    return this.byPredicate.get(predicate)
  }

  get subjectResources(): Uint32Array {
    this.cachedSubjectResources ??= new Uint32Array(this.source.get(this.header.subjectResources))
    return this.cachedSubjectResources
  }

  /** One more than the subject number of a resource, by its number; 0 for a resource that is not a subject. */
  get resourceSubjects(): Uint32Array {
    this.cachedResourceSubjects ??= this.derived.numbers('subjects', () => {
      const subjects = sharedUint32(this.resources.count + 1)
      const resources = this.subjectResources
      for (let subject = 0; subject < resources.length; subject++)
        subjects[resources[subject] as number] = subject + 1
      return subjects
    })
    return this.cachedResourceSubjects
  }

  /** Cumulative number of triples up to and including each subject. */
  get tripleEnds(): Uint32Array {
    this.cachedTripleEnds ??= this.derived.numbers('triples', () => {
      const ends = sharedUint32(this.subjects)
      for (const column of this.columns)
        for (let row = 0; row < column.rows; row++) {
          const subject = column.subjectOf(row)
          ends[subject] = (ends[subject] as number) + column.endOf(row) - column.startOf(row)
        }
      for (let subject = 1; subject < ends.length; subject++)
        ends[subject] = (ends[subject] as number) + (ends[subject - 1] as number)
      return ends
    })
    return this.cachedTripleEnds
  }

  /** False for a subject without triples, and for numbers that are no subject. */
  hasTriples(subject: number): boolean {
    const { tripleEnds } = this
    return subject >= 0 && tripleEnds[subject] !== (subject === 0 ? 0 : tripleEnds[subject - 1])
  }

  /** The number of a subject; -1 for a term that is not a subject. */
  subjectOf(term: Term): number {
    const resource = this.resources.findTerm(term)
    return resource === 0 ? -1 : (this.resourceSubjects[resource] as number) - 1
  }

  subjectTerm(subject: number): Term {
    return this.resources.term(this.subjectResources[subject] as number)
  }

  /**
   * The triples of a range of subjects as N-Triples: subject by subject, the predicates of each in column order, its values in
   * source order.
   */
  *lines(from = 0, to = this.subjects): Generator<string> {
    const predicates = this.columns.map(
      ({ predicate }) => ` ${termText({ type: 'iri', value: predicate } satisfies NamedNode)} `,
    )
    for (let subject = from; subject < to; subject++) {
      let text = ''
      let head = ''
      this.columns.forEach((column, number) => {
        const row = column.rowOf(subject)
        if (row < 0) return
        for (let at = column.startOf(row); at < column.endOf(row); at++) {
          if (head === '') head = termText(this.subjectTerm(subject))
          text += `${head}${predicates[number]}${termText(column.dictionary.term(column.codes[at] as number))} .\n`
        }
      })
      if (text !== '') yield text
    }
  }
}

/** Opens the columns of a file; only their header is read. Throws ColumnsDamaged, or the error of a missing file. */
export function openColumns(path: string): GraphColumns {
  const header = readHeader(path)
  return new GraphColumns(header, new SectionFile(path, header))
}

/** True where two graphs have a subject in common. */
export function shareSubjects(left: GraphColumns, right: GraphColumns): boolean {
  const [small, large] = left.subjects <= right.subjects ? [left, right] : [right, left]
  const known = memoised(SHARED, small, () => new WeakMap<GraphColumns, boolean>())
  return memoised(known, large, () => hasSharedSubject(small, large))
}

const SHARED = new WeakMap<GraphColumns, WeakMap<GraphColumns, boolean>>()

/** Skips from a subject of one graph to the next of the other in text order: graphs with different prefixes of subjects need few skips. */
function hasSharedSubject(small: GraphColumns, large: GraphColumns): boolean {
  if (small === large) return true
  if (!large.resources.overlaps(small.resources)) return false
  for (let id = subjectFrom(small, 1); id > 0; ) {
    const text = small.resources.text(id)
    const other = subjectFrom(large, large.resources.lowerBound(text))
    if (other === 0) return false
    const next = large.resources.text(other)
    if (next === text) return true
    id = subjectFrom(small, small.resources.lowerBound(next))
  }
  return false
}

/** The first resource from a number on that is a subject; 0 where there is none. */
function subjectFrom({ resourceSubjects }: GraphColumns, from: number): number {
  for (let id = from; id < resourceSubjects.length; id++) if (resourceSubjects[id] !== 0) return id
  return 0
}
