import type { Attempts } from '../../http/attempts.ts'
import type { AccountRequest } from './section.ts'

/** The outcome of an attempt: the value found, null if the secret was wrong; or that it was blocked. */
export type Checked<T> =
  | { readonly type: 'checked'; readonly value: T | null }
  | { readonly type: 'blocked'; readonly seconds: number; readonly message: string }

/**
 * Checks a secret unless there were too many failures. Errors of the check are rethrown, and the attempt does not count
 * then.
 *
 * @param account the given name, of an existing user or not
 * @param device on which the account was signed in before; null for any other
 */
export async function checkThrottled<T>(
  attempts: Attempts,
  {
    pageContext: { t },
    options: { now },
    address,
  }: Pick<AccountRequest, 'pageContext' | 'options' | 'address'>,
  account: string,
  check: () => Promise<T | null>,
  device: string | null = null,
): Promise<Checked<T>> {
  const attempt = await attempts.begin(account, address, device)
  if (attempt.type === 'blocked') {
    const { until } = attempt
    const moment = new Date(Math.ceil(until / 60_000) * 60_000).toISOString().slice(11, 16)
    return {
      type: 'blocked',
      seconds: Math.max(1, Math.ceil((until - now()) / 1000)),
      message: t('Too many attempts failed. Try again after {time} UTC.', { time: moment }),
    }
  }
  const value = await check().catch(async error => {
    await attempt.withdraw()
    throw error
  })
  if (value !== null) await attempt.succeed()
  return { type: 'checked', value }
}
