import { declareFault, Fault } from '../errors/errors.ts'

/** An invalid setting of the portal or of a dataset. */
export const CONFIG_INVALID = declareFault('ConfigInvalid', 500, '{reason}')
/** An invalid command line. */
export const USAGE = declareFault('Usage', 500, '{reason}')

/** A fault of what was given on the command line. */
export function usageFault(reason: string, cause?: unknown): Fault {
  return new Fault(USAGE, { reason }, cause === undefined ? {} : { cause })
}
