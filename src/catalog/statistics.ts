import type { DatasetStatistics, FieldStatistics } from '../model/dataset.ts'
import { type Field, isNumeric, isTemporal } from '../model/field.ts'
import type { Value } from '../model/value.ts'

const DISTINCT_LIMIT = 10_000

/** Gathers the statistics of a version while its records pass by; memory is bounded by the distinct values kept. */
export class StatisticsGatherer {
  private records = 0
  private readonly fields: readonly Field[]
  private readonly columns: readonly Column[]

  constructor(fields: readonly Field[]) {
    this.fields = fields
    this.columns = fields.map(field => ({
      ordered: isNumeric(field.type) || isTemporal(field.type),
      present: 0,
      distinct: new Set(),
      min: null,
      max: null,
    }))
  }

  add(values: readonly Value[]): void {
    this.records += 1
    for (let index = 0; index < this.columns.length; index++) {
      const value = values[index]
      const column = this.columns[index]
      if (value === null || value === undefined || column === undefined) continue
      column.present += 1
      if (column.distinct !== null) addDistinct(column, value)
      if (column.ordered && (typeof value === 'string' || typeof value === 'number')) {
        if (column.min === null || value < column.min) column.min = value
        if (column.max === null || value > column.max) column.max = value
      }
    }
  }

  statistics(): DatasetStatistics {
    const fields: Record<string, FieldStatistics> = {}
    this.fields.forEach((field, index) => {
      const column = this.columns[index]
      if (column === undefined) return
      const { present, min, max, distinct } = column
      fields[field.name] = {
        present,
        nulls: this.records - present,
        distinct: distinct?.size ?? null,
        min,
        max,
      }
    })
    return { records: this.records, fields }
  }
}

interface Column {
  readonly ordered: boolean
  present: number
  /** null once there are too many to keep. */
  distinct: Set<string | number | boolean> | null
  min: string | number | null
  max: string | number | null
}

function addDistinct(column: Column, value: NonNullable<Value>): void {
  const { distinct } = column
  if (distinct === null) return
  if (Array.isArray(value)) for (const element of value) distinct.add(element as string)
  else distinct.add(typeof value === 'object' ? JSON.stringify(value) : value)
  if (distinct.size > DISTINCT_LIMIT) column.distinct = null
}
