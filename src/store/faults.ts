import { declareFault } from '../errors/errors.ts'

export const STORE_UNAVAILABLE = declareFault('StoreUnavailable', 503, 'The store is not ready: {reason}')
export const DEADLINE_EXCEEDED = declareFault(
  'DeadlineExceeded',
  503,
  'The query took longer than {seconds} s and was stopped.',
)
/** Triples that the store does not take; `graph` is among the parts where one alone was refused. */
export const LOAD_REFUSED = declareFault('LoadRefused', 500, '{reason}')
