import { declareFault } from '../errors/errors.ts'

/** An invalid value: its reason states the value found and the values expected. */
export const ACCOUNT_INVALID = declareFault('AccountInvalid', 400, '{reason}')
export const ACCOUNT_UNKNOWN = declareFault('AccountUnknown', 404, '{reason}')
export const TOO_MANY_ATTEMPTS = declareFault('TooManyAttempts', 429, '{reason}')
/** The database of accounts cannot be opened, read or written now. */
export const ACCOUNTS_UNAVAILABLE = declareFault('AccountsUnavailable', 503, '{reason}')
