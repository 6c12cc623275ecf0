import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import { boxAt, type GridBox, touch } from '../../grid.ts'
import type { Evaluation } from '../evaluation.ts'
import type { BoxTest } from '../functions/extension-function.ts'
import { columnCall } from '../functions/extensions.ts'
import { ColumnDomain, type Domain } from '../vectors/domain.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { distanceLimit } from './point-distances.ts'
import type { ScalarCompiler } from './scalar.ts'
import { FAILS, HOLDS, type TestedRows, truthOf } from './truths.ts'

/** A test of shapes, as far as their boxes decide it. */
interface ShapesTest {
  readonly variable: string
  readonly decide: BoxTest
}

/** Parses a relation to a geometry, or a distance with a limit, as such a test; null for others. */
function shapesTest(expression: AlgebraExpression): ShapesTest | null {
  const limit = distanceLimit(expression)
  const call = columnCall(limit?.computed ?? expression)
  if (call === null) return null
  const { variable, called, constants } = call
  if (limit === null) {
    const decide = called.isTest === true ? (called.overBoxes?.(constants) ?? null) : null
    return decide && { variable, decide }
  }
  const near = called.distances?.(constants)?.boxesWithin(limit.distance)
  if (near === undefined) return null
  return { variable, decide: box => (near.some(each => touch(each, box)) ? null : !limit.isNear) }
}

/** The boxes of the shapes of a column by code, null for what has none; null for other columns. */
export function boxesIn(domain: Domain, evaluation: Evaluation): ((code: number) => GridBox | null) | null {
  if (!(domain instanceof ColumnDomain)) return null
  const part = domain.dictionary.parts.find(({ kind }) => kind === 'other')
  if (part?.kind !== 'other') return null
  const { first, count } = part
  const boxes = domain.column.boxesOf(part, () => evaluation.check())
  return code => (code >= first && code < first + count ? boxAt(boxes, code - first) : null)
}

/**
 * The rows that pass or fail a test of shapes: most are decided by their boxes, the others one by one. Null for other tests and
 * columns.
 */
export function rowsOfShapes(
  expression: AlgebraExpression,
  { batch, rows, required }: TestedRows,
  scalars: ScalarCompiler,
  evaluation: Evaluation,
): Uint32Array | null {
  const test = shapesTest(expression)
  const vector = test === null ? undefined : batch.get(test.variable)
  if (test === null || vector?.type !== 'ids' || !(vector.domain instanceof ColumnDomain)) return null
  const { ids, domain } = vector
  const boxOf = boxesIn(domain, evaluation)
  if (boxOf === null) return null
  const states = evaluation.memo('shapes', expression, domain, () => new Uint8Array(domain.size + 1))
  const value = scalars.compile(expression, batch)
  const stateAt = (row: number, id: number): number => {
    const box = boxOf(id)
    const decided = box && test.decide(box)
    if (decided !== null) return decided ? HOLDS : FAILS
    evaluation.check()
    return truthOf(value(row))
  }
  const requested = required ? HOLDS : FAILS
  const selected = scratchUint32(rows.length)
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    const id = ids[row] as number
    if (id === 0) continue
    if (states[id] === 0) states[id] = stateAt(row, id)
    if (states[id] === requested) selected[count++] = row
  }
  return selected.subarray(0, count)
}
