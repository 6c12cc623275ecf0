import {
  type AlgebraExpression,
  type Node,
  type SparqlOperation,
  type TriplePatternNode,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import type { Filter } from '../expressions/filter.ts'
import { type Batch, isUnit } from '../vectors/batch.ts'
import { rowsPresent } from '../vectors/row-filters.ts'
import { constantVector, translated } from '../vectors/translate.ts'
import { type IdVector, hasWholeValues as isWholeVector, type Vector } from '../vectors/vector.ts'
import { codesOf, expandedRows, gatherIds, subjectsIn } from './column-codes.ts'
import {
  aboutSubjects,
  type Component,
  componentsOf,
  connected,
  predicatesOf,
  rowsNotIn,
  withTerm,
} from './graph-components.ts'
import type { BlockStep } from './join-order.ts'
import { crossed, withHolders } from './object-join.ts'
import { isSubset, variablesIn, variablesOfPattern } from './operation-parts.ts'
import type { OutermostScan } from './outermost-scan.ts'
import { countOfCode, scanSubjects } from './scan.ts'
import { type ColumnLink, hasPredicate, isPosition, LinkFollower, PendingFilters } from './star.ts'

type Star = Omit<Extract<BlockStep, { readonly type: 'star' }>, 'type'>
type Graphs = readonly GraphColumns[]
type OpenStep = Extract<BlockStep, { readonly type: 'open' }>

/** Number of subjects whose triples are found together. */
const OPEN_SUBJECTS = 2 ** 13

/** Name of the subject of a star that is a constant term. */
const SUBJECT = ' subject'

/** Evaluates triple patterns over the merge of some graphs. */
export class PatternMatcher {
  private readonly evaluation: Evaluation
  private readonly follower: LinkFollower
  private readonly graphs: Graphs

  constructor(evaluation: Evaluation, filter: Filter, graphs: Graphs) {
    this.evaluation = evaluation
    this.follower = new LinkFollower(evaluation, filter)
    this.graphs = graphs
  }

  /**
   * The solutions of a batch joined with those of a star.
   *
   * @param outermost the scan of the query, if the star is that scan
   */
  *star(star: Star, batch: Batch, outermost: OutermostScan | null = null): Generator<Batch> {
    for (const [number, component] of componentsOf(star.links, this.graphs).entries()) {
      const [graph] = component
      if (component.length > 1 || graph === undefined) {
        const scan = outermost === null ? null : { scan: outermost, component: number }
        yield* this.acrossGraphs(component, { ...star, links: arranged(star) }, batch, scan)
      } else if (outermost?.isBehind(number, 0) !== true)
        yield* this.inGraph(graph, star, batch, new PendingFilters(pending(star.filters)), outermost)
    }
  }

  /** The triples with any predicate that satisfy conditions, joined with a batch. */
  *open(
    { pattern, filters }: OpenStep,
    batch: Batch,
    outermost: OutermostScan | null = null,
  ): Generator<Batch> {
    const { subject, predicate, object } = pattern
    if (predicate.type !== 'variable') return
    const names = new Set(variablesOfPattern(pattern))
    const isOpen = names.size === 3 && ![...names].some(name => batch.has(name))
    // Conditions on the triples alone are tested before these are paired with the rows of the batch.
    const own = filters.filter(condition => isSubset(variablesOfExpression(condition), names))
    const later = pending(filters.filter(condition => !own.includes(condition)))
    for (const [number, component] of connected(this.graphs).entries()) {
      if (isOpen && subject.type === 'variable') {
        for (const [place, graph] of component.entries()) {
          if (outermost?.isBehind(number, place) === true) continue
          const earlier = component.slice(0, place)
          const { evaluation } = this
          for (const some of scanSubjects(
            graph,
            subject.name,
            [],
            [],
            evaluation,
            outermost,
            OPEN_SUBJECTS,
          )) {
            const waiting = new PendingFilters(pending(own))
            const tested = this.follower.tested(some, waiting)
            if (tested.size === 0) continue
            for (const found of this.ofSubjects(graph, pattern, tested, earlier, waiting))
              yield* crossed(batch, found, this.evaluation, pairs =>
                this.follower.tested(pairs, new PendingFilters(later)),
              )
          }
        }
        continue
      }
      outermost?.lose()
      const about = aboutSubjects(component, subject, batch)
      if (about.size === 0) continue
      const known = about.get(predicate.name)
      const predicates = new Set(component.flatMap(graph => predicatesOf(graph, subject, object)))
      for (const iri of predicates) {
        const term = constantVector({ type: 'iri', value: iri }, this.evaluation)
        const some = known === undefined ? about.with([[predicate.name, term]]) : withTerm(about, known, term)
        if (some.size === 0) continue
        const link: ColumnLink = { predicate: iri, object }
        const isBound = subject.type !== 'variable' || some.has(subject.name)
        const via = isBound ? 'subject' : object.type === 'variable' && !some.has(object.name) ? 'scan' : link
        yield* this.acrossGraphs(component, { subject, links: [link], via, filters }, some)
      }
    }
  }

  /**
   * The triples of known subjects, subject by subject: data that is written together is close in memory.
   *
   * @param earlier graphs whose triples were found before
   */
  private *ofSubjects(
    graph: GraphColumns,
    pattern: TriplePatternNode,
    batch: Batch,
    earlier: Graphs,
    waiting: PendingFilters,
  ): Generator<Batch> {
    const { subject, predicate, object } = pattern
    if (predicate.type !== 'variable') return
    for (const column of graph.columns) {
      const term = constantVector({ type: 'iri', value: column.predicate }, this.evaluation)
      const own = waiting.copy()
      const some = this.follower.tested(batch.with([[predicate.name, term]]), own)
      if (some.size === 0) continue
      const link: ColumnLink = { predicate: column.predicate, object }
      const star = { subject, links: [link], via: 'subject', filters: [] } as const
      for (const found of this.inGraph(graph, star, some, new PendingFilters([])))
        yield this.follower.tested(this.withoutDoubles(found, subject, link, earlier), own.copy())
    }
  }

  /** The exact number of triples of a pattern, where it is known from the counts of the columns; null where it must be counted. */
  count({ subject, predicate, object }: TriplePatternNode): number | null {
    const names = variablesOfPattern({ subject, predicate, object })
    if (subject.type !== 'variable' || new Set(names).size < names.length) return null
    const touched =
      predicate.type === 'iri'
        ? this.graphs.filter(graph => hasPredicate(graph, predicate.value))
        : this.graphs
    if (connected(touched).some(component => component.length > 1)) return null
    let count = 0
    for (const graph of touched) {
      if (predicate.type === 'iri' && isPosition(predicate.value)) return null
      const columns =
        predicate.type === 'iri'
          ? graph.columns.filter(column => column.predicate === predicate.value)
          : graph.columns
      for (const column of columns) {
        if (object.type === 'variable') count += column.header.triples
        else {
          const code = column.dictionary.find(object)
          if (code !== 0) {
            void column.postings
            count += countOfCode(column, code)
          }
        }
      }
    }
    return count
  }

  /** True for a pattern whose predicate, or whose constant object with it, is in none of the graphs: a look into dictionaries. */
  isEmpty({ predicate, object }: TriplePatternNode): boolean {
    if (predicate.type !== 'iri' || isPosition(predicate.value)) return false
    const columns = this.graphs.flatMap(graph => graph.column(predicate.value) ?? [])
    if (object.type !== 'iri' && object.type !== 'literal') return columns.length === 0
    return columns.every(column => column.dictionary.find(object) === 0)
  }

  /**
   * A batch with the values of an optional pattern, where each subject has at most one value or no condition tests them: this
   * needs no join. Null where that does not apply.
   */
  optional(
    right: SparqlOperation,
    condition: AlgebraExpression | null,
    batch: Batch,
    filter: Filter,
  ): Batch | null {
    const [pattern, conditions] = optionalPattern(right, condition)
    if (pattern === null) return null
    const { subject, predicate, object } = pattern
    if (subject.type !== 'variable' || predicate.type !== 'iri' || object.type !== 'variable') return null
    const vector = batch.get(subject.name)
    if (vector?.type !== 'ids' || batch.has(object.name)) return null
    if (isPosition(predicate.value) || !isWholeVector(vector)) return null
    const touched = this.graphs.filter(graph => graph.column(predicate.value) !== undefined)
    if (touched.length === 0) return batch
    const own = touched.find(graph => domainsOf(graph).subjects === vector.domain)
    const others = touched.filter(graph => graph !== own)
    if (own === undefined ? touched.length > 1 : others.some(graph => connected([own, graph]).length === 1))
      return null
    const graph = own ?? (touched[0] as GraphColumns)
    const column = graph.column(predicate.value)
    if (column === undefined || (!column.isSingle && conditions.length > 0)) return null
    this.evaluation.columns.add(predicate.value)
    const domain = domainsOf(graph).of(column)
    const { subjects } = domainsOf(graph)
    const subjectsOf = (): IdVector =>
      own ? vector : { type: 'ids', domain: subjects, ids: translated(vector, subjects, batch.size) }
    if (!column.isSingle) {
      const { rows, values } = expandedRows(column, subjectsOf().ids, true, this.evaluation)
      return batch.rows(rows).with([[object.name, { type: 'ids', domain, ids: values }]])
    }
    const ids = () => (own === undefined ? codesOfSome(column, subjectsOf()) : codesOf(column, subjectsOf()))
    const isWhole = own !== undefined && column.isComplete
    const found = batch.with([[object.name, () => ({ type: 'ids', domain, ids: ids(), isWhole })]])
    if (conditions.length === 0) return found
    const present = found.get(object.name) as IdVector
    let rows: Uint32Array | null = null
    for (const each of conditions) rows = filter.select(each, found, rows)
    const selected = new Uint32Array(batch.size)
    for (const row of rows ?? []) selected[row] = present.ids[row] as number
    return batch.with([[object.name, { type: 'ids', domain, ids: selected }]])
  }

  /** A star whose links are all in one graph. */
  private *inGraph(
    graph: GraphColumns,
    star: Star,
    batch: Batch,
    waiting: PendingFilters,
    outermost: OutermostScan | null = null,
  ): Generator<Batch> {
    const { subject, links, via, filters } = star
    if (via === 'scan') {
      const name = subject.type === 'variable' ? subject.name : SUBJECT
      for (const scanned of scanSubjects(graph, name, links, filters, this.evaluation, outermost))
        yield* this.besideScan(graph, links, batch, scanned, name, waiting)
      return
    }
    if (via === 'subject') {
      const vector =
        subject.type === 'variable'
          ? (batch.get(subject.name) as Vector)
          : constantVector(subject, this.evaluation)
      const { rows, subjects } = subjectsIn(graph, vector, batch.size)
      if (subjects.ids.length === 0) return
      const some = rows === null ? batch : batch.rows(rows)
      // From here on the subject is a subject of this graph, so that its other columns need no search.
      const known =
        subject.type === 'variable' && vector.type !== 'constant'
          ? some.with([[subject.name, subjects]])
          : some
      const found = this.follower.follow(graph, links, known, subjects, waiting.copy())
      if (found.size > 0) yield found
      return
    }
    yield* this.byObject(graph, star, via, batch, waiting)
  }

  /** Pairs each solution of a batch with each of a star whose subjects were scanned: links and conditions of the star alone come first. */
  private *besideScan(
    graph: GraphColumns,
    links: readonly ColumnLink[],
    batch: Batch,
    scanned: Batch,
    name: string,
    waiting: PendingFilters,
  ): Generator<Batch> {
    const isApart = !links.some(({ object }) => object.type === 'variable' && batch.has(object.name))
    const [first, later] = isApart ? [links, []] : [[], links]
    const rest = waiting.copy()
    const star = this.follower.follow(graph, first, scanned, scanned.get(name) as IdVector, rest)
    if (star.size === 0) return
    if (isUnit(batch)) yield star
    else
      yield* crossed(batch, star, this.evaluation, pairs =>
        this.follower.follow(graph, later, pairs, pairs.get(name) as IdVector, rest.copy()),
      )
  }

  /** The subjects that have a known value. */
  private *byObject(
    graph: GraphColumns,
    { subject, links }: Star,
    via: ColumnLink,
    batch: Batch,
    waiting: PendingFilters,
  ): Generator<Batch> {
    const column = graph.column(via.predicate)
    if (column === undefined) return
    this.evaluation.columns.add(via.predicate)
    const codes =
      via.object.type === 'variable'
        ? translated(batch.get(via.object.name) as Vector, domainsOf(graph).of(column), batch.size)
        : new Uint32Array(batch.size).fill(column.dictionary.find(via.object))
    const domain = domainsOf(graph).subjects
    const rest = links.filter(link => link !== via)
    yield* withHolders(batch, column, codes, ({ rows, subjects }) => {
      this.evaluation.advance(rows.length)
      const vector: IdVector = { type: 'ids', domain, ids: subjects }
      const expanded = batch.rows(rows)
      const known = subject.type === 'variable' ? expanded.with([[subject.name, vector]]) : expanded
      return this.follower.follow(graph, rest, known, vector, waiting.copy())
    })
  }

  /** A star whose links may be in several graphs about the same subjects: evaluated link by link. */
  private *acrossGraphs(
    component: Component,
    star: Star,
    batch: Batch,
    outermost: { readonly scan: OutermostScan; readonly component: number } | null = null,
  ): Generator<Batch> {
    const { subject, via } = star
    const [link, ...rest] = star.links
    if (link === undefined) {
      const found = this.follower.tested(batch, new PendingFilters(pending(star.filters)))
      if (found.size > 0) yield found
      return
    }
    const holding = component.filter(graph => hasPredicate(graph, link.predicate))
    for (const [number, graph] of holding.entries()) {
      if (outermost?.scan.isBehind(outermost.component, number) === true) continue
      const none = new PendingFilters([])
      const own = via === 'scan' || via === 'subject' ? via : link
      const scan = outermost?.scan ?? null
      const first = { subject, links: [link], via: own, filters: [] }
      for (const found of this.inGraph(graph, first, batch, none, scan)) {
        const distinct = this.withoutDoubles(found, subject, link, holding.slice(0, number))
        if (distinct.size > 0)
          yield* this.acrossGraphs(component, { ...star, links: rest, via: 'subject' }, distinct)
      }
    }
  }

  private withoutDoubles(
    batch: Batch,
    subject: Node,
    { predicate, object }: ColumnLink,
    earlier: Graphs,
  ): Batch {
    if (earlier.length === 0 || isPosition(predicate)) return batch
    const vectorOf = (node: Node): Vector =>
      node.type === 'variable' ? (batch.get(node.name) as Vector) : constantVector(node, this.evaluation)
    const rows = rowsNotIn(earlier, predicate, batch, vectorOf(subject), vectorOf(object))
    return rows === null ? batch : batch.rows(rows)
  }
}

function pending(filters: readonly AlgebraExpression[]) {
  return filters.map(condition => ({ condition, variables: variablesOfExpression(condition) }))
}

/** Moves the link by which subjects are found to the front. */
function arranged({ links, via }: Star): readonly ColumnLink[] {
  return via === 'scan' || via === 'subject' ? links : [via, ...links.filter(link => link !== via)]
}

/** The single pattern of an optional group and its conditions; null where the group has another form. */
function optionalPattern(
  right: SparqlOperation,
  condition: AlgebraExpression | null,
): readonly [TriplePatternNode | null, readonly AlgebraExpression[]] {
  const conditions = condition === null ? [] : [condition]
  if (right.type === 'filter') {
    // A filter of a nested group only sees the bindings of that group.
    const [pattern, more] = optionalPattern(right.input, null)
    const own = new Set(pattern === null ? [] : variablesIn([pattern.subject, pattern.object]))
    const isOwn = [...variablesOfExpression(right.condition)].every(name => own.has(name))
    return isOwn ? [pattern, [...more, right.condition, ...conditions]] : [null, []]
  }
  const [pattern, ...others] = right.type === 'bgp' ? right.patterns : []
  return pattern === undefined || others.length > 0 ? [null, []] : [pattern, conditions]
}

/** Codes by subject, for subjects some of which may not be in the graph. */
function codesOfSome(column: Column, subjects: IdVector): Uint32Array {
  const some = rowsPresent(subjects.ids)
  const found = codesOf(column, gatherIds(subjects, some))
  const all = new Uint32Array(subjects.ids.length)
  for (let at = 0; at < some.length; at++) all[some[at] as number] = found[at] as number
  return all
}
