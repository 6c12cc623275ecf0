import { declareFault } from '../../errors/errors.ts'

/** A change that was made from a text of dataset.yaml, or of the mapping, that is no longer there. */
export const EDIT_CONFLICT = declareFault(
  'EditConflict',
  409,
  'The {what} of {id} was changed meanwhile. Nothing was saved.',
)
