import { declareFault } from '../errors/errors.ts'

/** A setting that makes no sense, of the portal or of a dataset. */
export const CONFIG_INVALID = declareFault('ConfigInvalid', 500, '{reason}')
/** A command line that cannot be understood. */
export const USAGE = declareFault('Usage', 500, '{reason}')
