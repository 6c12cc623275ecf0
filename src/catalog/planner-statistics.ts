import { setImmediate } from 'node:timers/promises'
import { memoised } from '../model/memoised.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { RDF, RDFS, VOID, XSD } from '../rdf/vocab.ts'
import type { Column } from '../store/columns/column.ts'
import type { GraphColumns } from '../store/columns/graph.ts'
import type { GraphStatistics } from './graph-statistics.ts'
import { type Candidates, joinsOf, type PropertyJoin } from './property-joins.ts'

/** The subjects of a graph with the same properties and classes (a characteristic set), and their triples. */
export interface CharacteristicSet {
  readonly classes: readonly string[]
  /** Distinct subjects. */
  readonly subjects: number
  /** Its properties but rdf:type, with the number of their triples in the set. */
  readonly properties: readonly { readonly iri: string; readonly triples: number }[]
}

/** Statistics for join planners of a graph (Neumann and Moerkotte, "Characteristic Sets", ICDE 2011). */
export interface PlannerStatistics {
  /** Those with the most subjects, at most {@link MAX_SETS}. */
  readonly sets: readonly CharacteristicSet[]
  /** The number of all sets, and of the subjects of those that are not listed. */
  readonly setCount: number
  readonly otherSubjects: number
  /** For classes of subjects and properties: triples, and kinds of objects. The most frequent first. */
  readonly joins: readonly PropertyJoin[]
  readonly joinCount: number
}

const MAX_SETS = 100
const MAX_JOINS = 500
/** Maximum number of property sets that are counted; graphs with more have no statistics. */
const MAX_COUNTED_SETS = 50_000
/** Rows that are read before control is yielded. */
const ROWS_AT_ONCE = 20_000

/**
 * Computes them from columns: two passes over the rows, and one over the codes of values for the joins, in steps with pauses.
 * Null for a graph whose subjects are too heterogeneous for sets to be informative.
 */
export async function plannerStatistics(
  graph: GraphColumns,
  signal: AbortSignal,
): Promise<PlannerStatistics | null> {
  const assigned = await assignSets(graph, signal)
  if (assigned === null) return null
  const { setOf, elements, classes } = assigned
  const counted = new Map<number, { subjects: number; triples: Map<number, number> }>()
  for (let subject = 0; subject < graph.subjects; subject++) {
    const set = setOf[subject] as number
    memoised(counted, set, () => ({ subjects: 0, triples: new Map() })).subjects += 1
    if (subject % ROWS_AT_ONCE === 0) await rest(signal)
  }
  for (const [number, column] of graph.columns.entries())
    await eachRow(column, signal, row => {
      const triples = counted.get(setOf[column.subjectOf(row)] as number)?.triples
      triples?.set(number, (triples.get(number) ?? 0) + column.endOf(row) - column.startOf(row))
      return true
    })
  const candidates: Candidates = { setOf, classesOf: set => classesIn(elements(set), classes) }
  const joins = await joinsOf(graph, candidates, () => rest(signal))
  const largest = [...counted].sort(([a, x], [b, y]) => y.subjects - x.subjects || a - b)
  const listed = largest.slice(0, MAX_SETS)
  return {
    sets: listed.map(([set, { subjects, triples }]) => ({
      classes: candidates.classesOf(set),
      subjects,
      properties: [...triples]
        .map(([number, triples]) => ({ iri: graph.columns[number]?.predicate ?? '', triples }))
        .filter(({ iri }) => iri !== RDF.type),
    })),
    setCount: largest.length,
    otherSubjects: largest.slice(MAX_SETS).reduce((sum, [, { subjects }]) => sum + subjects, 0),
    joins: joins.slice(0, MAX_JOINS),
    joinCount: joins.length,
  }
}

/**
 * Gives each subject the number of its set. A set is its predecessor and one more element, a property or a class, in column
 * order: so equal sets have the same number.
 */
async function assignSets(graph: GraphColumns, signal: AbortSignal) {
  const setOf = new Uint32Array(graph.subjects)
  const before: (readonly [set: number, element: number])[] = [[0, -1]]
  const following = new Map<string, number>()
  const classes: string[] = []
  const numbers = new Map<number, number>()
  const add = (subject: number, element: number) => {
    const set = setOf[subject] as number
    setOf[subject] = memoised(following, `${set} ${element}`, () => before.push([set, element]) - 1)
  }
  for (const [number, column] of graph.columns.entries()) {
    const isType = column.predicate === RDF.type
    await eachRow(column, signal, row => {
      const subject = column.subjectOf(row)
      add(subject, number)
      if (!isType) return before.length <= MAX_COUNTED_SETS
      for (const code of column.codes.subarray(column.startOf(row), column.endOf(row)).toSorted()) {
        const at = memoised(numbers, code, () => {
          const term = column.dictionary.term(code)
          return classes.push(term.type === 'iri' ? term.value : '') - 1
        })
        add(subject, graph.columns.length + at)
      }
      return before.length <= MAX_COUNTED_SETS
    })
    if (before.length > MAX_COUNTED_SETS) return null
  }
  const elements = (set: number): readonly number[] => {
    const found: number[] = []
    for (let at = set; at > 0; ) {
      const [previous, element] = before[at] ?? [0, -1]
      found.push(element - graph.columns.length)
      at = previous
    }
    return found
  }
  return { setOf, elements, classes }
}

function classesIn(elements: readonly number[], classes: readonly string[]): readonly string[] {
  return elements
    .map(at => classes[at] ?? '')
    .filter(iri => iri !== '')
    .sort()
}

/** Visits the rows of a column that have a value, with regular pauses; it ends early if `look` returns false. */
async function eachRow(column: Column, signal: AbortSignal, look: (row: number) => boolean): Promise<void> {
  for (let first = 0; first < column.rows; first += ROWS_AT_ONCE) {
    const end = Math.min(column.rows, first + ROWS_AT_ONCE)
    for (let row = first; row < end; row++) if (column.endOf(row) > column.startOf(row) && !look(row)) return
    await rest(signal)
  }
}

async function rest(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await setImmediate()
}

/** Namespace of the VoID extension that query planners and generators read. */
const VOID_EXT = 'http://ldf.fi/void-ext#'
const VOID_SPACE = 'http://rdfs.org/ns/void#'

/**
 * Statistics of a graph for join planners, as N-Triples: in each class partition its properties with their triples, and in each
 * of these the classes and datatypes of the objects (VoID, section 4.5, and its extension, http://ldf.fi/void-ext); the
 * characteristic sets as subsets with their subjects and the triples of each property. If not all are listed, one more subset
 * describes the size of the rest.
 */
export function plannerDescription(node: string, document: string, graphStatistics: GraphStatistics): string {
  const { planner, classes } = graphStatistics
  if (planner == null) return ''
  const lines: string[] = []
  const t = (subject: string, predicate: string, object: string) =>
    lines.push(`${subject} <${predicate}> ${object} .\n`)
  const count = (subject: string, name: string, value: number) =>
    t(subject, VOID_SPACE + name, literalText(String(value), XSD.integer))
  /** Parts of a node by class, property or datatype, each with its number of things. */
  const parts = (
    id: string,
    kind: 'class' | 'property' | 'datatype',
    members: readonly { readonly iri: string; readonly triples: number }[],
    counted = 'triples',
  ) => {
    const space = kind === 'datatype' ? VOID_EXT : VOID_SPACE
    for (const [index, { iri, triples }] of members.entries()) {
      const part = iriText(`${id}-${kind}-${index + 1}`)
      t(iriText(id), `${space}${kind}Partition`, part)
      t(part, `${space}${kind}`, iriText(iri))
      count(part, counted, triples)
    }
  }
  const classNode = new Map(classes.map(({ iri }, at) => [iri, iriText(`${document}#class-${at + 1}`)]))
  for (const [at, join] of planner.joins.entries()) {
    const owner = classNode.get(join.class)
    if (owner === undefined) continue
    const id = `${document}#join-${at + 1}`
    t(owner, `${VOID_SPACE}propertyPartition`, iriText(id))
    t(iriText(id), `${VOID_SPACE}property`, iriText(join.property))
    count(iriText(id), 'triples', join.triples)
    count(iriText(id), 'distinctSubjects', join.subjects)
    parts(id, 'class', join.objectClasses.slice(0, MAX_KINDS))
    parts(id, 'datatype', join.datatypes.slice(0, MAX_KINDS))
  }
  for (const [at, { classes, subjects, properties }] of planner.sets.entries()) {
    const id = `${document}#set-${at + 1}`
    t(node, VOID.subset, iriText(id))
    t(iriText(id), RDF.type, iriText(VOID.Dataset))
    t(iriText(id), RDFS.label, literalText(`Characteristic set ${at + 1} of ${planner.setCount}`))
    count(iriText(id), 'distinctSubjects', subjects)
    const entities = classes.map(iri => ({ iri, triples: subjects }))
    parts(id, 'class', entities, 'entities')
    parts(id, 'property', properties)
  }
  const left = planner.setCount - planner.sets.length
  if (left > 0) {
    const rest = iriText(`${document}#sets-rest`)
    t(node, VOID.subset, rest)
    t(rest, RDF.type, iriText(VOID.Dataset))
    t(rest, RDFS.label, literalText(`The other ${left} characteristic sets`))
    count(rest, 'distinctSubjects', planner.otherSubjects)
  }
  return lines.join('')
}

/** Maximum number of reported classes and datatypes of the objects of a property. */
const MAX_KINDS = 20
