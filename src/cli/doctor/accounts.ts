import { existsSync } from 'node:fs'
import { accountsFile } from '../../accounts/open.ts'
import type { Config } from '../../config/config.ts'
import { Fault } from '../../errors/errors.ts'
import { quotaLimits } from '../../http/quota.ts'
import { withAccounts } from '../accounts.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** The share of the daily call quota from which it is reported. */
const NEARLY = 0.9

/** Opens the accounts, which migrates their tables as every command does, and checks the calls of today. */
export async function diagnoseAccounts(config: Config, now: Date): Promise<readonly DoctorFinding[]> {
  if (config.accounts === undefined && !existsSync(accountsFile(config.portal)))
    return [ok('accounts', `${accountsFile(config.portal)} is not there yet: the first use makes it`)]
  try {
    return await withAccounts(config, async accounts => {
      const users = await accounts.users.list()
      const counts = await accounts.calls.read(now.toISOString().slice(0, 10))
      return [
        ok(
          'accounts',
          `${users.length} users in ${config.accounts === undefined ? 'a file' : 'the database'}`,
        ),
        quotaFinding(counts.get('domain') ?? 0, config),
      ]
    })
  } catch (error) {
    const advice =
      config.accounts === undefined
        ? 'restore var/accounts.sqlite from a back-up, or fix the permissions of the file'
        : 'see the settings accounts and accounts_password_file, and whether the database is up'
    const hint = error instanceof Fault ? error.hint : undefined
    return [problem('accounts', (error as Error).message, hint ?? advice)]
  }
}

function quotaFinding(taken: number, { quotas }: Config): DoctorFinding {
  const { domain } = quotaLimits(quotas)
  const described = `${taken} of ${domain} calls of today are taken`
  return taken >= NEARLY * domain
    ? warning('quotas', described, 'raise quotas.domain, or find out who calls: see /api/v2/monitoring')
    : ok('quotas', described)
}
