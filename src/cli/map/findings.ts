import { basename } from 'node:path'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import type { MappingPlace, ResourceRule, Segment, TermMap } from '../../mapping/ir.ts'
import { nearest } from '../../model/did-you-mean.ts'
import { isPathProblem, type PathProblem, parseJsonPath } from '../../sources/json/json-path.ts'
import { mapTerms } from '../mapping/source-file.ts'
import { finding } from './inputs.ts'

/** Diagnostics about the references of a mapping and the columns or members of a file. */

/** An iterator that is no valid path. */
export function unreadableIterator(
  iterator: string,
  { reason, index }: PathProblem,
  place: MappingPlace,
): Diagnostic {
  const message = `The iterator ${JSON.stringify(iterator)} cannot be read from character ${index + 1}: ${reason}.`
  return finding('reference-syntax', 'error', message, place)
}

/** A reference to an unknown column of a table. */
export function unknownColumn(
  { name, place }: Reference,
  file: string,
  columns: readonly string[],
): Diagnostic {
  const near = nearest(name, columns)
  const listed = [...new Set(columns)].slice(0, 20).join(', ')
  const message = `${JSON.stringify(name)} is no column of ${basename(file)}, which has: ${listed}.`
  const hint = near === undefined ? undefined : `Did you mean ${JSON.stringify(near)}?`
  return finding('reference-unknown-field', 'error', message, place, hint)
}

/** References to a column name that occurs several times: they are ambiguous. */
export function repeatedColumns(
  references: readonly Reference[],
  file: string,
  columns: readonly string[],
): readonly Diagnostic[] {
  return references.flatMap(({ name, place }) => {
    const count = columns.filter(column => column === name.trim()).length
    const message = `${basename(file)} has ${count} columns ${JSON.stringify(name)}: the first of them is read.`
    return count < 2 ? [] : finding('column-repeated', 'warning', message, place)
  })
}

/** A reference without value in any record of a document. */
export function absentMember(
  { name, place }: Reference,
  file: string,
  iterator: string | null,
  isError: boolean,
): Diagnostic {
  const path = /^[$.[]|\.\.|\[/.test(name) ? parseJsonPath(name) : []
  const where = iterator === null ? '' : ` (records at ${iterator})`
  const message = `${JSON.stringify(name)} leads to no value in any record of ${basename(file)}${where}.`
  const hint = isPathProblem(path)
    ? `It is read as the name of a member: as a path, ${path.reason}.`
    : undefined
  return finding('reference-unknown-field', isError ? 'error' : 'warning', message, place, hint)
}

/** A join over a reference to several values: it also leads to other records that have one of them. */
export function joinOfSeveral({ name, joined }: Reference, file: string, count: number): Diagnostic {
  const message = `A join with other records: ${JSON.stringify(name)} has several values in ${count} records of ${basename(file)}, and joins are not supported.`
  const hint = 'Without the condition the link is to the subjects of the same record.'
  return finding('unsupported', 'error', message, joined, hint)
}

/** A reference to whole arrays or objects, where scalar values are expected. */
export function nestedValue({ name, place }: Reference, file: string, count: number): Diagnostic {
  const message = `${JSON.stringify(name)} leads to a whole array or object in ${count} records of ${basename(file)}.`
  const hint = `For the elements of an array write ${JSON.stringify(`${name}[*]`)}.`
  return finding('value-shape', 'error', message, place, hint)
}

/** A reference of a rule to a column. */
export interface Reference {
  readonly name: string
  readonly place: MappingPlace | undefined
  /** The place of a join over it. */
  readonly joined?: MappingPlace
}

/** The references of rules, each name once, with its first place. */
export function mapReferences(rules: readonly ResourceRule[]): readonly Reference[] {
  const found = new Map<string, Reference>()
  const joins = new Map(rules.flatMap(joinedFields))
  for (const rule of rules)
    for (const [term, place] of termsOf(rule))
      for (const { name, place: own } of ofTerm(term)) {
        const known = found.get(name)
        if (known === undefined || known.place === undefined) found.set(name, { name, place: own ?? place })
      }
  return [...found.values()].map(reference => {
    const joined = joins.get(reference.name)
    return joined === undefined ? reference : { ...reference, joined }
  })
}

function joinedFields({ statements }: ResourceRule): readonly (readonly [string, MappingPlace])[] {
  return statements.flatMap(({ object }) => {
    const joined = object.type === 'link' ? object.joined : undefined
    return joined === undefined ? [] : joined.fields.map(name => [name, joined.place] as const)
  })
}

/** The term maps of a rule, with the places of their statements. */
function* termsOf(rule: ResourceRule): Generator<readonly [TermMap, MappingPlace | undefined]> {
  yield [rule.subject, rule.place]
  for (const graph of rule.graphs ?? []) yield [graph, rule.place]
  for (const { predicate, object, graphs, place } of rule.statements) {
    if (typeof predicate !== 'string') yield [predicate, place]
    if (object.type !== 'link') yield [object, place]
    for (const graph of graphs ?? []) yield [graph, place]
  }
}

function ofTerm(term: TermMap): readonly Reference[] {
  switch (term.type) {
    case 'natural':
      return [{ name: term.field, place: term.place }]
    case 'iri':
    case 'blank':
      return ofSegments(term.segments)
    case 'literal':
      return [term.segments, term.datatype, term.language].flatMap(part =>
        typeof part === 'object' ? ofSegments(part) : [],
      )
  }
}

function ofSegments(segments: readonly Segment[]): readonly Reference[] {
  return segments.flatMap(segment =>
    segment.type === 'field' ? [{ name: segment.name, place: segment.place }] : [],
  )
}

/** The same rule with a base for its relative IRIs if it has none of its own. */
export function withBase(rule: ResourceRule, base: string): ResourceRule {
  return mapTerms(rule, map => (map.type === 'iri' && map.base === undefined ? { ...map, base } : map))
}
