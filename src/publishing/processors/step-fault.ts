import { CONFIG_INVALID } from '../../config/faults.ts'
import { Fault, placeText } from '../../errors/errors.ts'
import type { Processor } from './schema.ts'

/** The fault of a step: its position in dataset.yaml, its number and type, the problem, and what was expected. */
export function stepFault(
  { number, step, placeOf }: Processor,
  reason: string,
  {
    member,
    hint,
    cause,
  }: { readonly member?: string; readonly hint?: string; readonly cause?: unknown } = {},
): Fault {
  const place = placeOf(member)
  return new Fault(
    CONFIG_INVALID,
    { reason: `${placeText(place)}step ${number} (${step.type}): ${reason}` },
    { place, ...(hint === undefined ? {} : { hint }), ...(cause === undefined ? {} : { cause }) },
  )
}
