import { words } from '../../model/words.ts'
import type { ClauseName } from './ast.ts'

/**
 * The words of ODSQL: every keyword, function, unit and named parameter is defined in these tables and nowhere else. The
 * grammar's keywords, the resolver, error hints, the reference and completion all use them (ODSQL 1, 2). Steps of publishing have
 * some of these functions, with a meaning of their own (`publishing/processors/expression-functions.ts`).
 */

/** The kind of a function: a value of a record, an aggregate of a group, a condition, or a function of one clause only. */
export type FunctionKind = 'scalar' | 'aggregate' | 'condition' | 'group' | 'fields' | 'order'

/** One function of the language. */
export interface FunctionEntry {
  readonly name: string
  readonly kind: FunctionKind
  /** The clauses in which it may occur. */
  readonly uses: readonly ClauseName[]
  /** As in the reference; completion offers values by the names of its parameters (`completion.ts`). */
  readonly signature: string
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [least: number, max: number]
  readonly description: string
}

const EVERYWHERE: readonly ClauseName[] = ['select', 'where', 'group_by', 'order_by']
const VALUES: readonly ClauseName[] = ['select', 'where', 'order_by']
const AGGREGATE_USES: readonly ClauseName[] = ['select', 'order_by']
const MANY = 100

/** Parts of a date that functions return, from the coarsest to the finest. */
export const DATE_PARTS = words('year month day hour minute second millisecond')

function entry(
  kind: FunctionKind,
  uses: readonly ClauseName[],
  signature: string,
  arity: readonly [number, number],
  description: string,
): FunctionEntry {
  return { name: signature.slice(0, signature.indexOf('(')), kind, uses, signature, arity, description }
}

const aggregate = (signature: string, arity: number, description: string, uses = AGGREGATE_USES) =>
  entry('aggregate', uses, signature, [arity, arity], description)

const condition = (signature: string, arity: readonly [number, number], description: string) =>
  entry('condition', ['where'], signature, arity, description)

/** Every function, by name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionEntry> = new Map(
  [
    entry('scalar', VALUES, 'length(text)', [1, 1], 'number of characters'),
    entry('scalar', EVERYWHERE, 'lower(text)', [1, 1], 'the text in lower case'),
    entry('scalar', EVERYWHERE, 'ifnull(value, other)', [2, 2], 'the value, or the other where it is null'),
    entry('scalar', VALUES, 'now(year=2020, months=-1)', [0, MANY], 'this moment, or one near it'),
    ...DATE_PARTS.map(part => entry('scalar', EVERYWHERE, `${part}(date)`, [1, 1], `the ${part} of a date`)),
    entry(
      'scalar',
      EVERYWHERE,
      'date_format(date, "pattern")',
      [2, 2],
      'the date as text, by a pattern of letters',
    ),
    entry('scalar', ['select'], 'json_format(text, fallback)', [1, 2], 'the JSON that a text holds'),
    entry(
      'condition',
      VALUES,
      "distance(geo, geom'POINT(lon lat)', 10km)",
      [2, 3],
      'metres to a point; with a radius, a condition',
    ),
    entry('fields', ['select'], 'include(name, prefix*)', [1, MANY], 'keeps only these fields'),
    entry('fields', ['select'], 'exclude(name, prefix*)', [1, MANY], 'leaves these fields out'),
    aggregate('count(*)', 1, 'number of records, of values, or of distinct values'),
    aggregate('sum(number)', 1, 'sum of the values'),
    aggregate('avg(number)', 1, 'mean of the values'),
    aggregate('min(value)', 1, 'smallest number or earliest date'),
    aggregate('max(value)', 1, 'largest number or latest date'),
    aggregate('median(number)', 1, 'the value in the middle'),
    aggregate('percentile(number, 95)', 2, 'the value below which a part of the values lies'),
    aggregate('envelope(geo)', 1, 'convex hull of the positions', ['select']),
    aggregate('bbox(geo)', 1, 'smallest box around the positions', ['select']),
    condition(
      'search(field, "text")',
      [1, MANY],
      'words of the text, with small slips; the last may be unfinished',
    ),
    condition('suggest(field, "text")', [1, MANY], 'words that begin with the text'),
    condition('startswith(field, "text")', [1, MANY], 'values that begin with exactly the text'),
    condition("within_distance(geo, geom'…', 10km)", [3, 3], 'no farther than a radius'),
    condition("geometry(geo, geom'…', within)", [3, 3], 'has a spatial relation to a shape'),
    condition("intersects(geo, geom'…')", [2, 2], 'shares a position with a shape'),
    condition("disjoint(geo, geom'…')", [2, 2], 'shares no position with a shape'),
    condition("within(geo, geom'…')", [2, 2], 'lies inside a shape'),
    condition("polygon(geo, geom'…')", [2, 2], 'lies inside a polygon'),
    condition('in_bbox(geo, lat1, lon1, lat2, lon2)', [5, 5], 'lies inside a box'),
    entry('group', ['group_by'], 'range(value, 10)', [2, MANY], 'ranges of numbers or dates'),
    entry('group', ['group_by'], 'equi(step, lower, upper)', [3, 3], 'steps of a range, inside range'),
    entry('group', ['group_by'], 'geo_cluster(point, 10)', [2, 3], 'points that are near one another'),
    entry('order', ['order_by'], 'random(7)', [1, 1], 'an order by chance, the same for the same number'),
  ].map(known => [known.name, known]),
)

/** `bbox` is an aggregate of positions in select and a condition in where. */
export const BBOX_CONDITION: FunctionEntry = condition(
  "bbox(geo, geom'top left', geom'bottom right')",
  [3, 5],
  'lies inside a box',
)

/**
 * Words that must be written in back-quotes to name a field: the lists of both generations of the language
 * (ODSQL 1.2; the later generation added distinct, ifnull and search).
 */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    'and as asc avg by count date_format day dayofweek desc distinct equi false group hour ifnull limit lower max ' +
    'millisecond min minute month not null or quarter range search second select sum top true upper where year'
  ).split(' '),
)

/** Words that the grammar itself needs, but that name a field where they have no other meaning. */
export const OPEN_WORDS = words('in is like to distinct')

/** Units of a distance, in metres (ODSQL 1.7). */
export const LENGTH_UNITS: Readonly<Record<string, number>> = {
  mm: 0.001,
  cm: 0.01,
  m: 1,
  km: 1000,
  ft: 0.3048,
  yd: 0.9144,
  mi: 1609.344,
}

const UNITS = words('millisecond second minute hour day week month quarter year')

/** A unit of time for ranges: a fixed number of milliseconds, or a calendar period. */
export type TimeUnit = (typeof UNITS)[number]

/** Units of an interval; their letters are case-sensitive: `m` is a minute, `M` a month (ODSQL 1.7). */
export const TIME_UNITS: Readonly<Record<string, TimeUnit>> = {
  ms: 'millisecond',
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  M: 'month',
  q: 'quarter',
  y: 'year',
  ...Object.fromEntries(
    UNITS.flatMap(unit => [
      [unit, unit],
      [`${unit}s`, unit],
    ]),
  ),
}

/** Names of the days of the week in `now`: 0 is Monday. */
export const WEEKDAYS = words('monday tuesday wednesday thursday friday saturday sunday')

/** Parameters of `now` that set a part, with the range of values of each (ODSQL 1.6). */
export const NOW_SETTERS: Readonly<Record<string, readonly [least: number, max: number]>> = {
  year: [1, 9999],
  month: [1, 12],
  day: [1, 31],
  hour: [0, 23],
  minute: [0, 59],
  second: [0, 59],
  microsecond: [0, 999_999],
  weekday: [0, 6],
}

/** Parameters of `now` that add to it. */
export const NOW_ADDERS: readonly string[] = [
  ...words('years months weeks days hours minutes seconds microseconds'),
  ...WEEKDAYS.map(day => `${day}s`),
]

/** Relations of `geometry`, including both spellings of the first. */
export const RELATIONS: Readonly<Record<string, 'intersects' | 'disjoint' | 'within'>> = {
  intersect: 'intersects',
  intersects: 'intersects',
  disjoint: 'disjoint',
  within: 'within',
}

/** The functions of a clause. */
export function functionsOf(clause: ClauseName): readonly FunctionEntry[] {
  return [...FUNCTIONS.values(), BBOX_CONDITION].filter(({ uses }) => uses.includes(clause))
}
