import { exactJson } from '../../model/exact-json.ts'
import { recordIri } from '../../rdf/minted-iris.ts'
import { yieldToOthers } from '../../runtime/work-client.ts'
import { fieldPredicates, RecordReader } from '../../store/record-reader.ts'
import type { SolutionPage } from '../../store/store.ts'
import { compileGroups } from '../compile/groups.ts'
import { compileCount, compileNamed, compileRecords, isStored } from '../compile/records.ts'
import type { CompileTarget } from '../compile/target.ts'
import {
  computedReader,
  decodeCount,
  decodeGroups,
  type GroupRow,
  hasEmptySteps,
  type RecordRow,
} from '../decode.ts'
import type { GroupQuery, Query, RecordQuery, SelectedColumn } from '../plan.ts'
import type { Executor } from './executor.ts'
import { type JsonStyle, recordJson, rowJson } from './record-json.ts'

/** A row of an answer as a flat JSON object, with the id of the record if it is a record. */
export interface AnswerRow {
  readonly id: string | null
  /** Characters of the JSON of the record's values. */
  readonly size: number
  readonly object: Record<string, unknown>
}

/** A page of an answer. */
export interface AnswerPage {
  readonly total: number
  readonly rows: readonly AnswerRow[]
}

/** The target of a query. */
interface AnswerOptions {
  readonly target: CompileTarget
  readonly style: JsonStyle
}

/** Answers a query of either kind with rows that are ready to be written. */
export async function answerQuery(
  plan: Query,
  { target, style }: AnswerOptions,
  executor: Executor,
): Promise<AnswerPage> {
  if (plan.type === 'groups') {
    const { total, rows } = await findGroups(plan, target, executor)
    return { total, rows: rows.map(row => ({ id: null, size: 0, object: rowJson(row, plan, style) })) }
  }
  const { total, rows } = await findRecords(plan, target, executor)
  const { fields } = target.dataset
  const shown = executor.watch.time('present', () =>
    rows.map(row => ({
      id: row.record.id,
      size: [...exactJson(row.record.values)].length,
      object: recordJson(row, plan.select, fields, style),
    })),
  )
  return { total, rows: shown }
}

/** The number of rows that {@link exportObjects} returns; null for groups, which are all computed at once. */
export async function countExportedRows(
  plan: Query,
  { target }: AnswerOptions,
  executor: Executor,
): Promise<number | null> {
  return plan.type === 'groups' ? null : countExport(plan, target, executor)
}

/** The rows of a query as flat JSON objects, in bounded chunks. */
export async function* exportObjects(
  plan: Query,
  { target, style }: AnswerOptions,
  executor: Executor,
): AsyncGenerator<readonly Record<string, unknown>[]> {
  if (plan.type === 'groups') {
    const { rows } = await findGroups(plan, target, executor)
    yield rows.map(row => rowJson(row, plan, style))
    return
  }
  const { fields } = target.dataset
  for await (const rows of exportRecords(plan, target, executor))
    yield rows.map(row => recordJson(row, plan.select, fields, style))
}

/** Answers a grouped query. */
export async function findGroups(
  plan: GroupQuery,
  target: CompileTarget,
  executor: Executor,
): Promise<{ readonly total: number; readonly rows: readonly GroupRow[] }> {
  // Where there is a row for each step, the page is cut from all rows.
  const requested = hasEmptySteps(plan) ? { ...plan, limit: null, offset: 0 } : plan
  const statement = executor.watch.time('compile', () => compileGroups(requested, target))
  const page = await executor.page(statement, { counted: true })
  const rows = executor.watch.time('decode', () => decodeGroups(plan, page))
  if (plan.keys.length === 0)
    return { total: await countRecords(plan, target, executor), rows: plan.limit === 0 ? [] : rows }
  const [only] = plan.keys
  const total =
    hasEmptySteps(plan) && only?.grouping.type === 'steps' ? only.grouping.edges.length - 1 : page.total
  return { total, rows }
}

/** A page of records and the number of all records that match. */
interface RecordPage {
  readonly total: number
  readonly rows: readonly RecordRow[]
}

/** Records that are read before other requests get a turn. */
const RECORDS_AT_A_TIME = 250

/** Answers a record query: one query to the store finds the page and the count; the contents are then read from the records. */
export async function findRecords(
  plan: RecordQuery,
  target: CompileTarget,
  executor: Executor,
): Promise<RecordPage> {
  const total = knownTotal(plan, target)
  if (total !== null && (plan.limit === 0 || plan.offset >= total)) return { total, rows: [] }
  if (plan.limit === 0) return { total: await countRecords(plan, target, executor), rows: [] }
  if (isSourceOrder(plan)) {
    const rows: RecordRow[] = []
    for await (const piece of exportRecords(plan, target, executor)) for (const row of piece) rows.push(row)
    return { total: target.statistics.records, rows }
  }
  const statement = executor.watch.time('compile', () => compileRecords(plan, target))
  const contents = fieldPredicates(target)
  const page = await executor.page(statement, { counted: total === null, contents })
  const reader = await readerOf(target, executor)
  const rows = executor.watch.time('decode', () => rowsOf(page, plan.select, reader))
  return { total: total ?? page.total, rows }
}

/** The records of a query in their order, in bounded chunks; chunks are read on demand. */
export async function* exportRecords(
  plan: RecordQuery,
  target: CompileTarget,
  executor: Executor,
): AsyncGenerator<readonly RecordRow[]> {
  if (plan.limit === 0 || target.statistics.records === 0) return
  const needed = neededFields(plan.select)
  if (isSourceOrder(plan)) {
    const reader = await readerOf(target, executor, needed)
    const end = Math.min(reader.count, plan.limit === null ? reader.count : plan.offset + plan.limit)
    const computed = plan.select.map(() => null)
    for (let first = plan.offset; first < end; first += RECORDS_AT_A_TIME) {
      const length = Math.min(RECORDS_AT_A_TIME, end - first)
      yield executor.watch.time('decode', () =>
        Array.from({ length }, (_, index) => ({ record: reader.record(first + index), computed })),
      )
      await yieldToOthers()
    }
    return
  }
  const statement = executor.watch.time('compile', () => compileRecords(plan, target))
  const reader = await readerOf(target, executor, needed)
  for await (const page of executor.pages(statement)) {
    yield executor.watch.time('decode', () => rowsOf(page, plan.select, reader))
    await yieldToOthers()
  }
}

/** The positions of the records of a query in their order, in bounded chunks. */
export async function* recordPositions(
  plan: RecordQuery,
  target: CompileTarget,
  executor: Executor,
): AsyncGenerator<readonly number[]> {
  const statement = executor.watch.time('compile', () => compileRecords({ ...plan, select: [] }, target))
  for await (const page of executor.pages(statement)) {
    const subjects = page.subjects('record')
    yield Array.from({ length: page.rows }, (_, row) => subjects(row))
  }
}

/** One record by its id; null where the version has none. */
export async function findRecord(
  id: string,
  plan: RecordQuery,
  target: CompileTarget,
  executor: Executor,
): Promise<RecordRow | null> {
  if (!/^[0-9a-f]{40}$/.test(id) || target.statistics.records === 0) return null
  const iri = recordIri(target.base, target.dataset.id, id)
  const statement = executor.watch.time('compile', () => compileNamed([iri], plan.select, plan, target))
  const page = await executor.page(statement, { contents: fieldPredicates(target) })
  const [row] = rowsOf(page, plan.select, await readerOf(target, executor))
  return row ?? null
}

/** The number of records that match the filter of a query. */
async function countRecords(
  plan: Pick<RecordQuery, 'filter' | 'timezone' | 'limit' | 'offset'>,
  target: CompileTarget,
  executor: Executor,
): Promise<number> {
  const known = knownTotal(plan, target)
  if (known !== null) return known
  return decodeCount(await executor.select(executor.watch.time('compile', () => compileCount(plan, target))))
}

/** The number of records that {@link exportRecords} returns. */
async function countExport(plan: RecordQuery, target: CompileTarget, executor: Executor): Promise<number> {
  const total = await countRecords(plan, target, executor)
  return Math.min(plan.limit ?? Number.POSITIVE_INFINITY, Math.max(0, total - plan.offset))
}

/** The number of records, where it is known from the statistics. */
function knownTotal({ filter }: Pick<RecordQuery, 'filter'>, { statistics }: CompileTarget): number | null {
  if (filter === null || statistics.records === 0) return statistics.records
  return filter.type === 'always' ? (filter.value ? statistics.records : 0) : null
}

/** True for all records in source order without computed values: they are read sequentially. */
function isSourceOrder({ filter, orderBy, select }: RecordQuery): boolean {
  return filter === null && orderBy.length === 0 && select.every(({ value }) => isStored(value))
}

/** The fields that are read of each record; undefined for all. */
function neededFields(select: readonly SelectedColumn[]): ReadonlySet<string> | undefined {
  if (select.length === 0) return undefined
  return new Set(
    select.flatMap(({ value }) => (value.type === 'field' && isStored(value) ? [value.field.name] : [])),
  )
}

async function readerOf(
  target: CompileTarget,
  executor: Executor,
  only?: ReadonlySet<string>,
): Promise<RecordReader> {
  const { fields } = target.dataset
  const predicates = fieldPredicates(target).filter((_, at) => only?.has(fields[at]?.name ?? '') ?? true)
  return new RecordReader(await executor.contents(target.graphs.facts, predicates), target, only)
}

function rowsOf(
  page: SolutionPage,
  select: readonly SelectedColumn[],
  reader: RecordReader,
): readonly RecordRow[] {
  const subjects = page.subjects('record')
  const computed = computedReader(select, page)
  return Array.from({ length: page.rows }, (_, row) => ({
    record: reader.record(subjects(row)),
    computed: computed(row),
  }))
}
