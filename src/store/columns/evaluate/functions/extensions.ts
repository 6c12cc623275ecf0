import { exactJson } from '../../../../model/exact-json.ts'
import type { FieldType } from '../../../../model/field.ts'
import { memoised } from '../../../../model/memoised.ts'
import { valueOfForm } from '../../../../model/value-form.ts'
import { LODESTONE, RDF } from '../../../../rdf/vocab.ts'
import { type AlgebraExpression, isConstantExpression } from '../../../../sparql/algebra.ts'
import type { GraphColumns } from '../../graph.ts'
import { exactOf } from '../vectors/exact.ts'
import { orderOf } from '../vectors/term-order.ts'
import { bigInteger, double, integerTerm, type TermValue, termValue } from '../vectors/value.ts'
import { DATE_FUNCTIONS } from './dates.ts'
import type { ArgumentValue, ExtensionFunction, SubjectValues } from './extension-function.ts'
import { GEOMETRY_FUNCTIONS } from './geometries.ts'
import { TEXT_FUNCTIONS } from './texts.ts'

/** Functions of numbers that SPARQL lacks. */
const NUMBER_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [LODESTONE.truncate, { apply: ([value]) => mapped(value, Math.trunc) }],
  [LODESTONE.roundAway, { apply: ([value]) => mapped(value, roundAway) }],
  [LODESTONE.quotient, { apply: ([left, right]) => whole(left, right, true) }],
  [LODESTONE.modulo, { apply: ([left, right]) => whole(left, right, false) }],
  [
    LODESTONE.ratio,
    {
      apply: ([left, right]) =>
        right?.type === 'number' && right.value === 0 ? null : divided(left, right, (a, b) => a / b),
    },
  ],
  [LODESTONE.remainder, { apply: ([left, right]) => divided(left, right, (a, b) => (a % b) + 0) }],
  [LODESTONE.step, { apply: ([value, ...edges]) => stepOf(value, edges) }],
  [LODESTONE.random, { apply: ([position, seed]) => chance(position, seed) }],
]

/** The index, from 0, of the half-open step between two edges that contains a value; rdf:nil is an open end. */
function stepOf(value: ArgumentValue, edges: readonly TermValue[]): TermValue | null {
  if (value === undefined) return null
  const isOpen = (edge: TermValue) => edge.type === 'iri' && edge.value === RDF.nil
  for (let at = 0; at + 1 < edges.length; at++) {
    const [low, high] = [edges[at] as TermValue, edges[at + 1] as TermValue]
    const isAbove = isOpen(low) || (orderOf(value, low) ?? -1) >= 0
    if (isAbove && (isOpen(high) || (orderOf(value, high) ?? 0) < 0)) return integerTerm(at)
  }
  return null
}

/** Rounds halves away from zero. */
function roundAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}

/** Integers stay unchanged. */
function mapped(value: ArgumentValue, map: (value: number) => number): TermValue | null {
  if (value?.type !== 'number') return null
  if (value.kind === 'integer') return value
  return double(map(value.value))
}

/** The whole part of a quotient, or the rest, of integers an integer; null for a divisor of 0. */
function whole(left: ArgumentValue, right: ArgumentValue, isQuotient: boolean): TermValue | null {
  if (left?.type !== 'number' || right?.type !== 'number' || right.value === 0) return null
  const near = (isQuotient ? Math.trunc(left.value / right.value) : left.value % right.value) + 0
  if (left.kind !== 'integer' || right.kind !== 'integer') return double(near)
  if (left.exact === undefined && right.exact === undefined) return integerTerm(near)
  const [a, b] = [exactOf(left), exactOf(right)]
  return bigInteger(isQuotient ? a / b : a % b)
}

/** In doubles, whatever the kinds. */
function divided(
  left: ArgumentValue,
  right: ArgumentValue,
  divide: (left: number, right: number) => number,
): TermValue | null {
  if (left?.type !== 'number' || right?.type !== 'number') return null
  return double(divide(left.value, right.value))
}

const MODULUS = 2_147_483_647

/** A pseudo-random number from a position and a seed; all products are whole numbers that a double represents exactly. */
function chance(position: ArgumentValue, seed: ArgumentValue): TermValue | null {
  if (position?.type !== 'number' || seed?.type !== 'number') return null
  const start = (((seed.value % MODULUS) + MODULUS) * 7919) % MODULUS
  const first = ((position.value + start) * 48_271) % MODULUS
  return integerTerm((first * ((first % 9973) + 1)) % MODULUS)
}

/** Functions of all values of a subject for a predicate: they are only defined within a graph, and so computed for whole columns. */
const SUBJECT_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
  [
    LODESTONE.least,
    { apply: () => null, ofSubjects: ([predicate], graph) => extreme(predicate, graph, false) },
  ],
  [
    LODESTONE.greatest,
    { apply: () => null, ofSubjects: ([predicate], graph) => extreme(predicate, graph, true) },
  ],
  [LODESTONE.count, { apply: () => null, ofSubjects: ([predicate], graph) => counts(predicate, graph) }],
  [LODESTONE.recordSize, { apply: () => null, ofSubjects: ([fields], graph) => sizes(fields, graph) }],
]

/** The smallest or largest value of each subject: codes are in the order of their values. */
function extreme(predicate: ArgumentValue, graph: GraphColumns, isGreatest: boolean): SubjectValues | null {
  const column = predicate?.type === 'iri' ? graph.column(predicate.value) : undefined
  if (column === undefined) return null
  const codes = new Uint32Array(graph.subjects + 1)
  for (let row = 0; row < column.rows; row++) {
    let best = 0
    for (let at = column.startOf(row); at < column.endOf(row); at++) {
      const code = column.codes[at] as number
      if (best === 0 || (isGreatest ? code > best : code < best)) best = code
    }
    codes[column.subjectOf(row) + 1] = best
  }
  return { type: 'codes', column, codes }
}

/** Numbers of distinct values. */
function counts(predicate: ArgumentValue, graph: GraphColumns): SubjectValues | null {
  const column = predicate?.type === 'iri' ? graph.column(predicate.value) : undefined
  const values = new Float64Array(graph.subjects + 1)
  if (column !== undefined)
    for (let row = 0; row < column.rows; row++)
      values[column.subjectOf(row) + 1] = column.endOf(row) - column.startOf(row)
  return { type: 'integers', values }
}

/** A field of a record: its predicate, and the JSON form of its values. */
interface FieldForm {
  readonly predicate: string
  readonly type: FieldType
  readonly multivalued: boolean
}

/** Characters of the JSON of the values of a record, in the order of its fields. */
function sizes(fields: ArgumentValue, graph: GraphColumns): SubjectValues | null {
  if (fields?.type !== 'text') return null
  const values = new Float64Array(graph.subjects + 1)
  const forms = JSON.parse(fields.value) as readonly FieldForm[]
  values.fill(Math.max(2, forms.length + 1))
  for (const { predicate, type, multivalued } of forms) {
    const column = graph.column(predicate)
    const known: number[] = []
    const sizeOf = (code: number): number => {
      const size = known[code] ?? jsonSize(column?.dictionary.form(code) ?? '', type)
      known[code] = size
      return size
    }
    for (let subject = 0; subject < graph.subjects; subject++) {
      const codes = column?.listOf(subject) ?? NONE
      let size = codes.length === 0 ? NULL_SIZE : multivalued ? codes.length + 1 : 0
      for (const code of codes) size += sizeOf(code)
      values[subject + 1] = (values[subject + 1] as number) + size
    }
  }
  return { type: 'integers', values }
}

const NONE = new Uint32Array(0)
const NULL_SIZE = 'null'.length

function jsonSize(form: string, type: FieldType): number {
  return [...exactJson(valueOfForm(form, type))].length
}

const FUNCTIONS: ReadonlyMap<string, ExtensionFunction> = new Map([
  ...DATE_FUNCTIONS,
  ...GEOMETRY_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...SUBJECT_FUNCTIONS,
])

/** The function of an IRI; null for an unknown one. */
export function extensionFunction(iri: string): ExtensionFunction | null {
  return FUNCTIONS.get(iri) ?? null
}

export function isTestFunction(iri: string): boolean {
  return FUNCTIONS.get(iri)?.isTest === true
}

/** The supported functions, for service descriptions. */
export const EVALUATED_EXTENSIONS: readonly string[] = [...FUNCTIONS.keys()]

/** A call of a known function with a variable first and constants after it. */
export interface ColumnCall {
  readonly variable: string
  readonly constants: readonly TermValue[]
  readonly called: ExtensionFunction
}

const CALLS = new WeakMap<AlgebraExpression, ColumnCall | null>()

/** Parses an expression as a call over one column; null for any other. */
export function columnCall(expression: AlgebraExpression): ColumnCall | null {
  return memoised(CALLS, expression, () => readCall(expression))
}

function readCall(expression: AlgebraExpression): ColumnCall | null {
  if (expression.type !== 'function') return null
  const called = extensionFunction(expression.iri)
  const [first, ...rest] = expression.arguments
  if (called === null || first?.type !== 'variable' || !rest.every(isConstantExpression)) return null
  return { variable: first.name, constants: rest.map(termValue), called }
}
