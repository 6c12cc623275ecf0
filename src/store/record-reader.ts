import type { Field } from '../model/field.ts'
import type { DatasetRecord, Value } from '../model/value.ts'
import { valueOfForm } from '../model/value-form.ts'
import { fieldIri } from '../rdf/minted-iris.ts'
import type { Column } from './columns/column.ts'
import type { GraphColumns } from './columns/graph.ts'

/** Maximum number of values of a dictionary that are cached. */
const MAX_CACHED = 4096

/** Reads the value of a field by the number of the subject. */
type FieldReader = (subject: number) => Value

/** The dataset of the records. */
export interface RecordsOf {
  readonly base: string
  readonly dataset: { readonly id: string; readonly fields: readonly Field[] }
}

/** The predicates of the fields of a dataset. */
export function fieldPredicates({ base, dataset }: RecordsOf): readonly string[] {
  return dataset.fields.map(({ name }) => fieldIri(base, dataset.id, name))
}

/** Reads records from the columns of the facts of a dataset: the number of a subject is the position of its record. */
export class RecordReader {
  private readonly columns: GraphColumns
  private readonly readers: readonly FieldReader[]

  /** @param only the fields to read; others are null */
  constructor(columns: GraphColumns, of: RecordsOf, only?: ReadonlySet<string>) {
    this.columns = columns
    const predicates = fieldPredicates(of)
    this.readers = of.dataset.fields.map((field, at) => {
      const column =
        only === undefined || only.has(field.name) ? columns.column(predicates[at] as string) : undefined
      return column === undefined ? () => null : fieldReader(column, field)
    })
  }

  get count(): number {
    return this.columns.subjects
  }

  record(position: number): DatasetRecord {
    return { id: this.id(position), position, values: this.readers.map(read => read(position)) }
  }

  /** The id of a record: the end of its IRI. */
  id(position: number): string {
    const iri = this.columns.resources.text(this.columns.subjectResources[position] as number)
    return iri.slice(iri.lastIndexOf('/') + 1)
  }
}

function fieldReader(column: Column, field: Field): FieldReader {
  const read = codeReader(column, field)
  if (field.multivalued)
    return subject => {
      const codes = column.listOf(subject)
      return codes.length === 0 ? null : Array.from(codes, code => String(read(code)))
    }
  if (column.isDense && column.isSingle) {
    const { codes } = column
    return subject => {
      const code = codes[subject] as number
      return code === 0 ? null : read(code)
    }
  }
  return subject => {
    const [code] = column.listOf(subject)
    return code === undefined ? null : read(code)
  }
}

/** Values by code. */
function codeReader({ dictionary }: Column, { type }: Field): (code: number) => Value {
  const part = dictionary.onlyPart()
  if (part?.kind === 'number' && (type === 'int' || type === 'double')) {
    const { values, first } = part
    if (type === 'double') return code => values[code - first] as number
    return code => {
      const value = values[code - first] as number
      return Number.isSafeInteger(value) ? value : valueOfForm(dictionary.form(code), type)
    }
  }
  if (part?.kind === 'point' && type === 'geo_point_2d') {
    const { longitudes, latitudes, first } = part
    return code => ({ lon: longitudes[code - first] as number, lat: latitudes[code - first] as number })
  }
  if (part?.kind === 'text' && type === 'text' && dictionary.count > MAX_CACHED) {
    const { texts, first } = part
    return code => texts.get(code - first)
  }
  if (dictionary.count > MAX_CACHED) return code => valueOfForm(dictionary.form(code), type)
  const cache: (Value | undefined)[] = []
  return code => {
    const value = cache[code] ?? valueOfForm(dictionary.form(code), type)
    cache[code] = value
    return value
  }
}
