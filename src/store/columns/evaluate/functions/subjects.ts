import { exactJson } from '../../../../model/exact-json.ts'
import type { FieldType } from '../../../../model/field.ts'
import { valueOfForm } from '../../../../model/value-form.ts'
import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { GraphColumns } from '../../graph.ts'
import type { TermValue } from '../value.ts'
import type { ExtensionFunction, SubjectValues } from './extension.ts'

/** Functions of all values of a subject for a predicate: they are only defined within a graph, and so computed for whole columns. */
export const SUBJECT_FUNCTIONS: readonly (readonly [string, ExtensionFunction])[] = [
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
function extreme(
  predicate: TermValue | undefined,
  graph: GraphColumns,
  isGreatest: boolean,
): SubjectValues | null {
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
function counts(predicate: TermValue | undefined, graph: GraphColumns): SubjectValues | null {
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
function sizes(fields: TermValue | undefined, graph: GraphColumns): SubjectValues | null {
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
