import type { Field } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { PageQuerySource, QueryService } from '../query-service.ts'
import { fieldName, type PageSelection } from '../selection.ts'
import { type ChartClauses, chartClauses, MAX_SERIES, roundWidth, shownClauses } from './clauses.ts'
import { partLabel, periodLabel, valueLabel } from './labels.ts'
import { type Axis, type ChartRequest, isContinuous } from './request.ts'

/** One group of a chart: its name, and its position on the axis: an index, a number or milliseconds. */
export interface ChartSlot {
  readonly label: string
  readonly from: number
  readonly to: number
}

/** The numbers of a chart. */
export interface ChartData {
  readonly request: ChartRequest
  readonly clauses: ChartClauses
  readonly slots: readonly ChartSlot[]
  /** Names of the series; a single one without a name if the chart is not divided. */
  readonly series: readonly string[]
  /** A value for each series of each slot; null if there is none. */
  readonly values: readonly (readonly (number | null)[])[]
  /** Values of the records without a position on the scale; null if all have one. */
  readonly unplaced: readonly (number | null)[] | null
  /** Total number of groups, and of values of the series field. */
  readonly groups: number
  readonly seriesValues: number
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Queries the numbers of a chart. Faults: those of {@link QueryService.find}. */
export async function queryChart(
  queryService: QueryService,
  source: PageQuerySource,
  selection: PageSelection,
  request: ChartRequest,
  pageContext: PageContext,
): Promise<ChartData> {
  const all = { ...selection, orderBy: '' }
  const width = request.axis.type === 'ranges' ? await widthOf(queryService, source, all, request.axis) : 1
  const execute = async ({ keys: _, ...clauses }: ChartClauses) => {
    const { rows, total } = await queryService.find(source, all, { ...clauses, offset: 0 })
    return { rows: rows.map(({ object }) => object), total }
  }
  const alone = chartClauses({ ...request, series: null }, width)
  const whole = isContinuous(request.axis)
  const groups = await execute(whole ? alone : { ...alone, limit: request.top })
  const keys = groups.rows.map(row => lookup(row, alone.keys.x))
  const { series, values, seriesValues, clauses } =
    request.series === null
      ? {
          series: [''],
          values: groups.rows.map(row => [cellValue(row, alone)]),
          seriesValues: 1,
          clauses: alone,
        }
      : await divided(request.series)
  const lines = keys.map((key, at) => ({
    slot: slotOf(key, at, request.axis, pageContext),
    line: values[at] ?? [],
    key,
  }))
  const shown = whole ? lines.filter(({ key }) => key !== null) : lines
  return {
    request,
    clauses,
    slots: shown.flatMap(({ slot }) => slot ?? []),
    series,
    values: shown.flatMap(({ slot, line }) => (slot === null ? [] : [line])),
    unplaced: whole ? (lines.find(({ key }) => key === null)?.line ?? null) : null,
    groups: groups.total,
    seriesValues,
  }

  async function divided(by: Field) {
    const largest = await queryService.find(source, all, {
      select: 'count(*) as number',
      groupBy: `${fieldName(by.name)} as series`,
      orderBy: 'number desc',
      limit: MAX_SERIES,
      offset: 0,
    })
    const values = largest.rows.map(({ object }) => object.series)
    const clauses = shownClauses(chartClauses(request, width), request, keys, values)
    const { rows } = await execute(clauses)
    const series = values.map(value => valueLabel(pageContext, value, by))
    return { series, values: table(rows, keys, values, clauses), seriesValues: largest.total, clauses }
  }
}

function table(
  rows: Rows,
  keys: readonly unknown[],
  series: readonly unknown[],
  clauses: ChartClauses,
): readonly (readonly (number | null)[])[] {
  const places = new Map(keys.map((key, at) => [key, at]))
  const columns = new Map(series.map((value, at) => [value, at]))
  const cells = keys.map(() => series.map((): number | null => null))
  for (const row of rows) {
    const column = columns.get(lookup(row, clauses.keys.series ?? ''))
    const line = cells[places.get(lookup(row, clauses.keys.x)) ?? -1]
    if (line !== undefined && column !== undefined) line[column] = cellValue(row, clauses)
  }
  return cells
}

function cellValue(row: Readonly<Record<string, unknown>>, { keys }: ChartClauses): number | null {
  const value = lookup(row, keys.value)
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The slot of a group; null if its key cannot be read. */
function slotOf(key: unknown, at: number, axis: Axis, pageContext: PageContext): ChartSlot | null {
  const place = { from: at, to: at + 1 }
  switch (axis.type) {
    case 'value':
      return { ...place, label: valueLabel(pageContext, key, axis.field) }
    case 'part':
      return {
        ...place,
        label: key === null ? pageContext.t('no value') : partLabel(pageContext, Number(key), axis.part),
      }
    case 'ranges': {
      const [from, to] = rangeEnds(key)
      if (from === undefined || to === undefined) return null
      const write = (value: string) => valueLabel(pageContext, Number(value), axis.field)
      return {
        from: Number(from),
        to: Number(to),
        label: pageContext.t('{from} to less than {to}', { from: write(from), to: write(to) }),
      }
    }
    case 'period': {
      const [from, to] =
        axis.period === 'year'
          ? [yearStart(Number(key)), yearStart(Number(key) + 1)]
          : rangeEnds(key).map(text => Date.parse(text))
      if (from === undefined || to === undefined || !(to > from)) return null
      return { from, to, label: periodLabel(pageContext, from, axis.period) }
    }
  }
}

function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1)
}

/** The bounds of a range in an answer, the second exclusive: `[4, 4.5[`, or `[0, 14]` of integers. */
function rangeEnds(key: unknown): readonly string[] {
  const [, from, to, bracket] = /^\[(.+), (.+)([[\]])$/.exec(String(key)) ?? []
  if (from === undefined || to === undefined) return []
  return [from, bracket === ']' ? String(Number(to) + 1) : to]
}

async function widthOf(
  queryService: QueryService,
  source: PageQuerySource,
  all: PageSelection,
  { field }: Axis,
): Promise<number> {
  const name = fieldName(field.name)
  const clauses = { select: `min(${name}) as low, max(${name}) as high`, limit: 1, offset: 0 }
  const [row] = (await queryService.find(source, all, clauses)).rows
  return roundWidth(Number(row?.object.low), Number(row?.object.high), field.type === 'int')
}
