import { existsSync, statSync } from 'node:fs'
import { accountsFile } from '../../accounts/open.ts'
import type { Config } from '../../config/config.ts'
import { Fault } from '../../errors/errors.ts'
import { quotaLimits } from '../../http/daily-quota.ts'
import { withoutCredentials } from '../../model/credentials.ts'
import { openSharedStore } from '../../publishing/registry/portal-store.ts'
import { graphSources } from '../../publishing/versions/graph-sources.ts'
import { currentManifest, publishedDatasets, versionsOf } from '../../publishing/versions/versions.ts'
import { availableMemory, megabytes, storeMemory } from '../../runtime/memory.ts'
import { UNIT } from '../../sparql/algebra.ts'
import { integer, select, variable } from '../../sparql/build.ts'
import { estimate } from '../../store/embedded/module.ts'
import type { StoredForms } from '../../store/remote/value-roundtrip.ts'
import { withAccounts } from '../options.ts'
import { counted } from '../print.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** Reports the memory of the store and what is published, or the properties of the engine. */
export async function diagnoseStore(config: Config): Promise<readonly DoctorFinding[]> {
  const { store } = config
  return store === undefined
    ? diagnoseEmbedded(config, availableMemory())
    : diagnoseRemote({ ...config, store })
}

/** Maximum milliseconds for a small query of a nearby engine. */
const PROMPT = 250

/** Queries the engine about its product, its treatment of values, and its response time. */
async function diagnoseRemote(
  config: Config & Required<Pick<Config, 'store'>>,
): Promise<readonly DoctorFinding[]> {
  const { store, registry } = await openSharedStore(config)
  try {
    await store.read(NOTHING)
    const { kind, version, address } = store.engine
    const begun = performance.now()
    await store.read(NOTHING)
    const consumed = performance.now() - begun
    const described = `${kind} ${version} at ${withoutCredentials(address)} answered in ${consumed.toFixed(0)} ms`
    const { inForce, loading, over } = await registry.counts()
    return [
      consumed > PROMPT
        ? warning('store', described, 'put the engine nearer, or look why it is slow: SPARQL is asked of it')
        : ok('store', described),
      ok('store', formsReported(store.forms)),
      ok(
        'store',
        `${counted(inForce, 'dataset')} in force, ${counted(loading, 'version')} being loaded, ${over} to be cleaned away`,
      ),
    ]
  } finally {
    await store.close()
  }
}

/** A query that any engine answers immediately. */
const NOTHING = select([{ variable: variable('one'), expression: integer(1) }], UNIT)

function formsReported({ changed, rounded, takesLongIris }: StoredForms): string {
  const described = [
    ...(changed.length === 0
      ? []
      : [
          `it changes ${changed.join('; ')}: its own SPARQL has them under datatypes of urn:lodestone:literal:, and answers have them as they are`,
        ]),
    ...rounded.map(kind => `it writes ${kind} with fewer digits than it has`),
    ...(takesLongIris ? [] : ['it takes no long IRIs: its own SPARQL has them as literals']),
  ]
  return described.length === 0 ? 'it gives all values back as they are' : described.join('. ')
}

/**
 * Reports how the memory of the process is used.
 *
 * @param available bytes of memory of the machine
 */
export function diagnoseEmbedded(
  { portal, memory }: Pick<Config, 'portal' | 'memory'>,
  available: number,
): readonly DoctorFinding[] {
  const versions = versionsOf(portal)
  const sources = publishedDatasets(versions).flatMap(id => {
    const manifest = currentManifest(versions, id)
    return manifest === null ? [] : graphSources(versions, manifest)
  })
  const sizes = sources.map(({ columns }) => statSync(columns, { throwIfNoEntry: false })?.size ?? 0)
  const onDisk = sizes.reduce((sum, size) => sum + size, 0)
  const largestColumns = Math.max(0, ...sizes)
  const largest = Math.max(0, ...sources.map(({ triples, bytes }) => estimate(triples, bytes)))
  const shares = storeMemory(memory)
  const described =
    `${megabytes(memory)} of ${megabytes(available)}: ${megabytes(shares.columns)} for columns, of which ` +
    `${megabytes(onDisk)} are on disk; ${megabytes(shares.query)} for each query; ${megabytes(shares.resident)} for graphs in the engine`
  const findings = [
    memory > available
      ? problem('memory', described, 'set memory to less: the process would be ended when it uses it')
      : ok('memory', described),
  ]
  if (largestColumns > shares.columns)
    findings.push(
      warning(
        'memory',
        `the columns of the largest graph are ${megabytes(largestColumns)}, more than there is for columns`,
        'questions about it read the disk again and again: raise memory',
      ),
    )
  if (largest > shares.resident)
    findings.push(
      warning(
        'memory',
        `the largest graph needs ${megabytes(largest)} in the engine`,
        'SPARQL over it that columns do not evaluate is refused: raise memory, or use the setting store',
      ),
    )
  return findings
}

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
          `${counted(users.length, 'user')} in ${config.accounts === undefined ? 'a file' : 'the database'}`,
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
