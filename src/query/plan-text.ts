import type { Bound, Condition, Constant, Grouping, Query, RowValue, Scalar, Word } from './plan.ts'

type Line = readonly [depth: number, text: string]

/** A plan as readable text: one line per part, conditions indented below their operator. */
export function planText(plan: Query): string {
  const lines: readonly Line[] = [
    [0, plan.type],
    [1, 'filter'],
    ...(plan.filter === null ? [[2, 'none: all records'] as const] : conditionLines(plan.filter, 2)),
    ...clauseLines(plan),
    [1, `limit ${plan.limit ?? 'none'}, offset ${plan.offset}`],
    [1, `time zone ${plan.timezone}`],
  ]
  return lines.map(([depth, text]) => '  '.repeat(depth) + text).join('\n')
}

function clauseLines(plan: Query): readonly Line[] {
  const direction = ({ descending }: { readonly descending: boolean }) => (descending ? 'desc' : 'asc')
  switch (plan.type) {
    case 'records':
      return [
        ...listLines(
          'order',
          plan.orderBy.map(each =>
            each.value.type === 'random'
              ? `random, seed ${each.value.seed}`
              : `${scalarText(each.value)} ${direction(each)}`,
          ),
          'none: the order of the source',
        ),
        ...listLines(
          'select',
          plan.select.map(({ key, value }) => named(key, scalarText(value))),
          'none: all fields',
        ),
      ]
    case 'groups':
      return [
        ...listLines(
          'groups',
          plan.keys.map(({ key, grouping }) => named(key, groupingText(grouping))),
          'none: all records are one group',
        ),
        ...listLines(
          'aggregates',
          plan.select.map(({ key, value }) => named(key, rowText(value))),
          'none',
        ),
        ...listLines(
          'order',
          plan.orderBy.map(each => `${rowText(each.value)} ${direction(each)}`),
          'none: that of the keys',
        ),
      ]
  }
}

function listLines(head: string, items: readonly string[], none: string): readonly Line[] {
  return [[1, head], ...(items.length === 0 ? [none] : items).map(text => [2, text] as const)]
}

function named(key: string, text: string): string {
  return key === text ? key : `${key} = ${text}`
}

function conditionLines(condition: Condition, depth: number): readonly Line[] {
  switch (condition.type) {
    case 'and':
    case 'or':
      return [
        [depth, condition.type === 'and' ? 'all of' : 'any of'],
        ...condition.operands.flatMap(operand => conditionLines(operand, depth + 1)),
      ]
    case 'not':
      return [[depth, 'not'], ...conditionLines(condition.operand, depth + 1)]
    case 'some':
      return [
        [depth, `some value of ${condition.field.name} (element ${condition.number})`],
        ...conditionLines(condition.condition, depth + 1),
      ]
    default:
      return [[depth, leafText(condition)]]
  }
}

type Leaf = Exclude<Condition, { readonly type: 'and' | 'or' | 'not' | 'some' }>

function leafText(condition: Leaf): string {
  switch (condition.type) {
    case 'compare':
      return `${condition.field.name} ${condition.operator} ${constantText(condition.value)}`
    case 'relation':
      return [condition, ...(condition.also === undefined ? [] : [condition.also])]
        .map(({ operator, right }) => `${scalarText(condition.left)} ${operator} ${scalarText(right)}`)
        .join(' and ')
    case 'between':
      return `${condition.field.name} in ${rangeText(condition.lower, condition.upper)}`
    case 'oneOf':
      return `${condition.field.name} one of ${condition.values.map(constantText).join(', ')}`
    case 'present':
      return `${condition.field.name} has a value`
    case 'words':
      return `the record has the words ${wordsText(condition.words)}`
    case 'like':
      return `${condition.field.name} has the words ${wordsText(condition.words)}`
    case 'startsWith':
      return `${condition.field.name} starts with ${constantText(condition.text)}`
    case 'withinDistance':
      return `${condition.field.name} within ${condition.metres} m of ${condition.point.lat}, ${condition.point.lon}`
    case 'spatial':
      return `${condition.field.name} ${condition.relation} a ${condition.shape.type}`
    case 'always':
      return condition.value ? 'every record' : 'no record'
  }
}

function rangeText(lower: Bound | null, upper: Bound | null): string {
  const from = lower === null ? ']…' : `${lower.inclusive ? '[' : ']'}${constantText(lower.value)}`
  const to = upper === null ? '…[' : `${constantText(upper.value)}${upper.inclusive ? ']' : '['}`
  return `${from}, ${to}`
}

function wordsText(words: readonly Word[]): string {
  return words.map(({ text, mode }) => (mode === 'word' ? `"${text}"` : `"${text}" (${mode})`)).join(', ')
}

function constantText(value: Constant): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function scalarText(scalar: Scalar): string {
  switch (scalar.type) {
    case 'field':
      return scalar.field.name
    case 'constant':
      return constantText(scalar.value)
    case 'arithmetic':
      return `(${scalarText(scalar.left)} ${scalar.operator} ${scalarText(scalar.right)})`
    case 'datePart':
      return `${scalar.part}(${scalarText(scalar.operand)})`
    case 'dateFormat':
      return `date_format(${scalarText(scalar.operand)})`
    case 'ifNull':
      return `ifnull(${scalarText(scalar.operand)}, ${scalarText(scalar.other)})`
    case 'distance':
      return `distance(${scalar.field.name}, ${scalar.point.lat}, ${scalar.point.lon})`
    case 'json':
      return `json(${scalarText(scalar.operand)})`
    case 'function':
      return `${scalar.name}(${scalar.arguments.map(scalarText).join(', ')})`
    case 'coordinate':
      return `${scalar.axis}(${scalar.field.name})`
    case 'valueCount':
      return `number of values of ${scalar.field.name}`
    case 'element':
      return `element ${scalar.number}`
    case 'truth':
      return `truth of ${conditionLines(scalar.holds, 0)
        .map(([, text]) => text)
        .join(' ')}`
    case 'choice':
      return `choice of ${scalar.branches.map(({ value }) => scalarText(value)).join(', ')}`
  }
}

function groupingText(grouping: Grouping): string {
  switch (grouping.type) {
    case 'value':
      return scalarText(grouping.value)
    case 'steps':
      return `steps of ${scalarText(grouping.value)} at ${grouping.edges.map(edge => (edge === null ? '…' : constantText(edge))).join(', ')}`
    case 'width':
      return `steps of ${scalarText(grouping.value)}, each ${grouping.width}${grouping.unit === null ? '' : ` ${grouping.unit}`} wide`
    case 'cells':
      return `cells of ${grouping.degrees}° of ${grouping.field.name}`
  }
}

function rowText(value: RowValue): string {
  switch (value.type) {
    case 'aggregate': {
      const { name, of, distinct, rank } = value.aggregate
      const what = of === null ? '*' : scalarText(of)
      return `${name}(${distinct ? 'distinct ' : ''}${what}${name === 'percentile' ? `, ${rank}` : ''})`
    }
    case 'key':
      return `key ${value.index + 1}`
    case 'constant':
      return constantText(value.value)
    case 'arithmetic':
      return `(${rowText(value.left)} ${value.operator} ${rowText(value.right)})`
  }
}
