import { declareFault } from '../../errors/errors.ts'

/** A file of SHACL shapes that cannot be read or applied. */
export const SHAPES_INVALID = declareFault('ShapesInvalid', 500, '{reason}')
