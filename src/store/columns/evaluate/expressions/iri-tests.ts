import type { ResourcePart } from '../../dictionary-parts.ts'
import { lowerBound, type TermBytes } from '../../dictionary-texts.ts'
import type { Resources } from '../../resources.ts'
import type { Evaluation } from '../evaluation.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { bothCases, type TextTest } from './read-text-test.ts'
import { isAscii, passes } from './text-tests.ts'
import { FAILS, HOLDS } from './truths.ts'

/** Maximum number of IRIs per tested row for testing all of them; the second applies where most IRIs need not be read. */
const [RESOURCES_A_ROW, PLACES_A_ROW] = [4, 256]

/**
 * Evaluates the test for IRIs, which are compared as bytes. False where too few rows are tested for this to be worthwhile.
 *
 * @param rows the number of rows that have been and are being tested
 */
export function markResources(
  test: TextTest,
  { dictionary, graph }: ColumnDomain,
  rows: number,
  evaluation: Evaluation,
  table: Uint8Array,
): boolean {
  const parts = dictionary.parts.filter(part => part.kind === 'resource')
  const factor = isBeginning(test) ? PLACES_A_ROW : RESOURCES_A_ROW
  if (parts.some(({ count }) => count > factor * rows)) return false
  for (const part of parts) markIris(test, part, graph.resources, evaluation, table)
  return true
}

function markIris(
  test: TextTest,
  { first, count, ids }: ResourcePart,
  resources: Resources,
  evaluation: Evaluation,
  table: Uint8Array,
): void {
  const [lower, upper] = bothCases(test)
  const [iris] = resources.rangeOfPrefix('')
  const [begin, end] = isBeginning(test) ? resources.rangeOfPrefix(test.part.toString()) : [iris, Infinity]
  const found: TermBytes = { type: 'iri', bytes: Buffer.alloc(0), from: 0, to: 0, datatype: '', language: '' }
  for (let place = lowerBound(ids, iris); place < count; place++) {
    if (place % 4096 === 0) evaluation.check()
    const id = ids[place] as number
    if (id < begin || id >= end) {
      table[first + place] = FAILS
      continue
    }
    resources.bytes(id, found)
    const { bytes, from, to } = found
    if (test.unsure !== 'none' && !isAscii(bytes, from, to)) continue
    if (!passes(test.anchor, bytes, from, to, lower, upper)) table[first + place] = FAILS
    else if (test.exact) table[first + place] = HOLDS
  }
}

/** True where the sort order of IRIs determines which ones can pass. */
const isBeginning = ({ folded, anchor }: TextTest): boolean =>
  !folded && (anchor === 'start' || anchor === 'whole')
