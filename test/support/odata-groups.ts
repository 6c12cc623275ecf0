/** Random `$apply` with groups, and what they mean (Data Aggregation 4.0, sections 3.1 and 3.10). */
import type { Expression, OrderItem } from '../../src/language/odata/ast.ts'
import { answer, type World } from './odata-evaluator.ts'
import { condition, STYLE } from './odata-generator.ts'
import { between, chance, type FieldName, pick, TYPES, times } from './odata-records.ts'
import { binary, name, number, written } from './odata-tree.ts'
import { type FieldType, fieldValue, orderOf, type Source } from './odata-values.ts'

type Method = 'sum' | 'average' | 'min' | 'max' | 'countdistinct'

/** One figure of a group; without a field it counts records. */
interface Figure {
  readonly name: string
  readonly field: FieldName | null
  readonly method: Method
}

/** A question for groups: rows of keys and figures. */
export interface GroupsQuery {
  readonly options: Readonly<Record<string, string>>
  readonly before: Expression | null
  readonly keys: readonly FieldName[]
  readonly figures: readonly Figure[]
  readonly after: Expression | null
  readonly orderBy: readonly OrderItem[]
}

const KEYS: readonly FieldName[] = ['word', 'flag', 'n', 'm', 'on', 'title', 'x']
const NUMBERS: readonly FieldName[] = ['n', 'm', 'k', 'x']
const ANY: readonly FieldName[] = ['n', 'x', 'word', 'on', 'at', 'big']

function figure(index: number): Figure {
  if (chance(0.4)) return { name: `f${index}`, field: null, method: 'sum' }
  const method = pick<Method>(['sum', 'average', 'min', 'max', 'countdistinct'])
  const field = pick(method === 'sum' || method === 'average' ? NUMBERS : ANY)
  return { name: `f${index}`, field, method }
}
const figureText = ({ name: label, field, method }: Figure) =>
  field === null ? `$count as ${label}` : `${field} with ${method} as ${label}`

/** The next question. */
export function askGroups(): GroupsQuery {
  const before = chance(0.5) ? null : condition(between(0, 1))
  const keys = [...new Set(times(pick([0, 1, 1, 1, 2, 2]), () => pick(KEYS)))]
  const figures: Figure[] = times(between(keys.length === 0 ? 1 : 0, 3), figure)
  if (chance(0.5)) figures.push({ name: 'c', field: null, method: 'sum' })
  const counts = figures.some(({ name: label }) => label === 'c')
  const after =
    counts && chance(0.4) ? binary(pick(['gt', 'le', 'ne']), name('c'), number(between(1, 5))) : null
  const span = { from: 0, to: 0 }
  const order = counts ? ['c', ...keys] : keys
  const orderBy = order.map(label => ({ expression: name(label), descending: chance(0.5), span }))
  const aggregate =
    figures.length > 0 || keys.length === 0 ? `aggregate(${figures.map(figureText).join(',')})` : ''
  const grouped =
    keys.length === 0 ? aggregate : `groupby((${keys.join(',')})${aggregate === '' ? '' : `,${aggregate}`})`
  const steps = [before === null ? '' : `filter(${written(before, STYLE)})`, grouped]
  const asFilter = after === null || chance(0.5)
  if (!asFilter) steps.push(`filter(${written(after, STYLE)})`)
  const options: Record<string, string> = { $apply: steps.filter(Boolean).join('/') }
  if (asFilter && after !== null) options.$filter = written(after, STYLE)
  if (orderBy.length > 0)
    options.$orderby = orderBy
      .map(({ expression, descending }) => written(expression, STYLE) + (descending ? ' desc' : ''))
      .join(',')
  return { options, before, keys, figures, after, orderBy }
}

/** The rows of a question in their order. */
export function answerGroups(
  requested: GroupsQuery,
  records: readonly Source[],
  world: World,
): readonly Source[] {
  const { before, keys, figures, after, orderBy } = requested
  const groups = new Map<string, Source[]>()
  if (keys.length === 0) groups.set('[]', [])
  for (const record of answer({ filter: before, search: null, orderBy: [] }, records, world)) {
    const label = JSON.stringify(keys.map(key => record[key]))
    groups.set(label, [...(groups.get(label) ?? []), record])
  }
  const rows = [...groups.values()].map(members =>
    Object.fromEntries([
      ...keys.map(key => [key, members[0]?.[key] ?? null] as const),
      ...figures.map(each => [each.name, figureOf(each, members)] as const),
    ]),
  )
  const types: Record<string, FieldType> = { ...TYPES, c: 'int' }
  return answer({ filter: after, search: null, orderBy }, rows, { ...world, types })
}

/** A figure of the values that are there; null where there are none. */
function figureOf({ field, method }: Figure, members: readonly Source[]): unknown {
  if (field === null) return members.length
  const values = members.map(member => member[field]).filter(value => value !== null)
  if (method === 'countdistinct') return new Set(values).size
  if (values.length === 0) return null
  if (method === 'sum' || method === 'average') {
    const total = values.reduce<number>((sum, value) => sum + Number(value), 0)
    return method === 'sum' ? total : total / values.length
  }
  const sign = method === 'max' ? 1 : -1
  const type = TYPES[field]
  return values.reduce((best, value) =>
    orderOf(fieldValue(value, type), fieldValue(best, type)) * sign > 0 ? value : best,
  )
}
