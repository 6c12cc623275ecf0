import type { EntityColumn } from '../../../model/edm.ts'
import type { EntityRow, ODataAnswer } from './shape.ts'

/**
 * The same answer with types that hold its values: a computed or aggregated property of integers of which one on the page is
 * beyond Edm.Int64 is Edm.Decimal there, or Edm.Double where it was computed in doubles and so is no exact integer.
 */
export function withFittingTypes(answer: ODataAnswer): ODataAnswer {
  switch (answer.type) {
    case 'feed': {
      const { feed } = answer
      return { type: 'feed', feed: { ...feed, ...fitting(feed.columns, feed.rows) } }
    }
    case 'entity': {
      const { entity } = answer
      const { columns, rows } = fitting(entity.columns, [entity.row])
      return { type: 'entity', entity: { ...entity, columns, row: rows[0] ?? entity.row } }
    }
    case 'property':
    case 'references':
      return answer
    default:
      return answer satisfies never
  }
}

interface Table {
  readonly columns: readonly EntityColumn[]
  readonly rows: readonly EntityRow[]
}

function fitting(columns: readonly EntityColumn[], rows: readonly EntityRow[]): Table {
  let table: Table = { columns, rows }
  for (const [index, { type, dynamic, annotation }] of columns.entries()) {
    if (type !== 'Edm.Int64' || !dynamic || annotation !== undefined) continue
    const large = rows.flatMap(({ values }) => (isBeyond(values[index]) ? [values[index]] : []))
    if (large.length > 0)
      table = large.some(value => typeof value === 'number')
        ? { columns: retyped(table.columns, index, 'Edm.Double'), rows: inDoubles(table.rows, index) }
        : { columns: retyped(table.columns, index, 'Edm.Decimal'), rows: table.rows }
  }
  return table
}

const [LEAST, END] = [-(2n ** 63n), 2n ** 63n]

function isBeyond(value: unknown): boolean {
  if (typeof value !== 'bigint' && typeof value !== 'number') return false
  return value < LEAST || value >= END
}

function retyped(columns: readonly EntityColumn[], index: number, type: EntityColumn['type']) {
  return columns.map((column, at) => (at === index ? { ...column, type } : column))
}

function inDoubles(rows: readonly EntityRow[], index: number): readonly EntityRow[] {
  return rows.map(row => {
    const value = row.values[index]
    if (typeof value !== 'bigint') return row
    return { ...row, values: row.values.map((own, at) => (at === index ? Number(value) : own)) }
  })
}
