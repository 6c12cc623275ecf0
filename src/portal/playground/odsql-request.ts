import type { ServedDataset } from '../../catalog/served.ts'
import { one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { isQuantity, isTemporal } from '../../model/field.ts'
import type { LinkParameters } from '../../site/page-context.ts'
import { fieldName } from '../selection.ts'

/** The texts of the clauses of a query, by the names of their parameters. */
export interface TypedClauses {
  readonly select: string
  readonly where: string
  readonly group_by: string
  readonly order_by: string
}

export const CLAUSES = [
  'select',
  'where',
  'group_by',
  'order_by',
] as const satisfies readonly (keyof TypedClauses)[]

const NOTHING: TypedClauses = { select: '', where: '', group_by: '', order_by: '' }

/** Default and maximum number of rows. */
const DEFAULT_ROWS = 10
const MAX_ROWS = 100

/** Reads the clauses of an address. Faults: InvalidRESTParameterError. */
export function readTypedClauses(query: QueryParameters): TypedClauses {
  const text = (name: keyof TypedClauses) => (one(query, name) ?? '').trim()
  return {
    select: text('select'),
    where: text('where'),
    group_by: text('group_by'),
    order_by: text('order_by'),
  }
}

/** Reads the requested number of rows; the default for anything else. */
export function readRowCount(query: QueryParameters): number {
  const rows = Number(one(query, 'limit') ?? DEFAULT_ROWS)
  return Number.isInteger(rows) && rows >= 1 && rows <= MAX_ROWS ? rows : DEFAULT_ROWS
}

/** The parameters of a query in the address of the playground. */
export function odsqlParameters(dataset: string, clauses: TypedClauses, rows: number): LinkParameters {
  return { dataset, ...clauses, limit: rows === DEFAULT_ROWS ? undefined : rows }
}

/** Example queries of a dataset, built from the types of its fields: groups first, then records. */
export function exampleClauses({ dataset }: Pick<ServedDataset, 'dataset'>): readonly TypedClauses[] {
  const { fields } = dataset
  const facet = fields.find(field => field.annotations.facet !== undefined && field.type === 'text')
  const number = fields.find(isQuantity)
  const date = fields.find(field => isTemporal(field.type))
  const amount = 'number'
  const counted = { select: `count(*) as ${amount}`, order_by: `${amount} desc` }
  return [
    ...(facet === undefined ? [] : [{ ...NOTHING, ...counted, group_by: fieldName(facet.name) }]),
    ...(facet === undefined || number === undefined
      ? []
      : [
          {
            ...NOTHING,
            select: `avg(${fieldName(number.name)}) as mean, max(${fieldName(number.name)}) as greatest`,
            group_by: fieldName(facet.name),
            order_by: 'mean desc',
          },
        ]),
    ...(date === undefined
      ? []
      : [{ ...NOTHING, select: `count(*) as ${amount}`, group_by: `year(${fieldName(date.name)}) as year` }]),
    ...(number === undefined
      ? []
      : [
          {
            ...NOTHING,
            where: `${fieldName(number.name)} is not null`,
            order_by: `${fieldName(number.name)} desc`,
          },
        ]),
    NOTHING,
  ]
}
