import { declareFault } from '../errors/errors.ts'

/** An invalid setting of the portal or of a dataset. */
export const CONFIG_INVALID = declareFault('ConfigInvalid', 500, '{reason}')
/** An invalid command line. */
export const USAGE = declareFault('Usage', 500, '{reason}')
