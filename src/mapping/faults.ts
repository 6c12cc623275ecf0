import { declareFault } from '../errors/errors.ts'

/** A mapping that cannot be read, applied or written. */
export const MAPPING_INVALID = declareFault('MappingInvalid', 500, '{reason}')
