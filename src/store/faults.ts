import { declareFault } from '../errors/errors.ts'

export const STORE_UNAVAILABLE = declareFault('StoreUnavailable', 503, 'The store is not ready: {reason}')
export const DEADLINE_EXCEEDED = declareFault(
  'DeadlineExceeded',
  503,
  'The query took longer than {seconds} s and was stopped.',
)
/** Triples that the store refuses; `graph` is among the parts where a single one was refused. */
export const LOAD_REFUSED = declareFault('LoadRefused', 500, '{reason}')
