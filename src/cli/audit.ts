import { Command, InvalidArgumentError } from 'commander'
import { canonicalMoment } from '../model/time.ts'
import { configOf, JSON_OPTION, PORTAL_OPTION, type PortalOptions, withAccounts } from './options.ts'
import { escapedText, printText } from './print.ts'

interface AuditOptions extends PortalOptions {
  readonly since?: number
}

/** `lodestone audit`: which user did what, when and from where, the oldest first. */
export function auditCommand(): Command {
  return new Command('audit')
    .description(
      'print the audit log: sign-ins, changes of users, grants, keys and applications, publications',
    )
    .option('--since <moment>', 'from this day or moment on (ISO 8601)', momentArgument)
    .option(...JSON_OPTION)
    .option(...PORTAL_OPTION)
    .action(async (options: AuditOptions) => {
      await withAccounts(configOf(options), async ({ audit }) => {
        for await (const event of audit.events(options.since ?? 0)) {
          const { moment, actor, address, action, subject } = event
          const line =
            options.json === true
              ? JSON.stringify(event)
              : [moment, actor, address, action, subject].map(escapedText).join('\t')
          printText(`${line}\n`)
        }
      })
    })
}

function momentArgument(text: string): number {
  const moment = Date.parse(canonicalMoment(text) ?? '')
  if (Number.isNaN(moment))
    throw new InvalidArgumentError('a day or moment is expected, such as 2026-11-22 or 2026-11-22T10:00:00Z.')
  return moment
}
