import { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { RELEASE } from '../config/release.ts'
import { Fault, faultText } from '../errors/errors.ts'
import { tracingSettings } from '../telemetry/otel-settings.ts'
import { originText, shownSettings } from './config.ts'
import { type DoctorFinding, looked, ok, problem, warning } from './doctor/finding.ts'
import { diagnoseBase, diagnoseDisk, diagnoseNode, diagnosePorts } from './doctor/machine.ts'
import { diagnoseDefinitions, diagnoseHarvests, diagnoseSources, diagnoseVersions } from './doctor/portal.ts'
import { diagnoseAccounts, diagnoseStore } from './doctor/store.ts'
import { JSON_OPTION, type PortalOptions, servedConfigOf, servedOptions } from './options.ts'
import { printJson, printText } from './print.ts'

/** `lodestone doctor`: checks everything that a portal needs, and advises how to fix problems. */
export function doctorCommand(): Command {
  const command = new Command('doctor').description(
    'check all that the portal needs, with advice for each problem',
  )
  return servedOptions(command, 'port to listen on')
    .option(...JSON_OPTION)
    .action(async ({ json, ...flags }: PortalOptions) => {
      const findings = await diagnose(flags, process.env)
      if (json === true) printJson(findings)
      else printText(findings.map(findingText).join(''))
      if (findings.some(({ status }) => status === 'problem')) process.exitCode = 1
    })
}

/** All findings about a portal, in the order in which they should be fixed. */
export async function diagnose(
  flags: PortalOptions,
  environment: NodeJS.ProcessEnv,
): Promise<readonly DoctorFinding[]> {
  const node = diagnoseNode(process.version)
  let config: Config
  try {
    config = servedConfigOf(flags, environment)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const advice = 'fix the setting: nothing else can be checked before'
    return [node, problem('settings', faultText(error), advice)]
  }
  const now = () => Date.now()
  const { portal, base } = config
  const looks: readonly (readonly [
    string,
    () => readonly DoctorFinding[] | Promise<readonly DoctorFinding[]>,
  ])[] = [
    ['settings', () => settingFindings(flags, environment)],
    ['var', () => diagnoseDisk(portal, now)],
    ['data', () => diagnoseDefinitions(portal, base)],
    ['versions', () => diagnoseVersions(portal, base)],
    ['sources', () => diagnoseSources(portal, now())],
    ['harvest', () => diagnoseHarvests(portal, now())],
    ['accounts', () => diagnoseAccounts(config, new Date(now()))],
    ['store', () => diagnoseStore(config)],
    ['ports', () => diagnosePorts(config, now())],
    ['base', () => diagnoseBase(config)],
  ]
  const findings: DoctorFinding[] = [node]
  for (const [check, look] of looks) findings.push(...(await looked(check, look)))
  return findings
}

/** Settings that mean nothing without another. */
const DEPENDENT: Readonly<Record<string, readonly string[]>> = {
  store: [
    'store_query',
    'store_update',
    'store_data',
    'store_user',
    'store_password',
    'store_password_file',
    'store_concurrency',
  ],
  accounts: ['accounts_password_file'],
  admin_port: ['admin_host'],
  services: ['service_timeout', 'service_rows', 'service_size'],
  tiles: ['tiles_attribution'],
}

/** The settings that are not defaults, and their origins. */
function settingFindings(flags: PortalOptions, environment: NodeJS.ProcessEnv): readonly DoctorFinding[] {
  const given = shownSettings(flags, environment).filter(({ origin }) => origin.type !== 'default')
  const described = given.map(({ setting, origin }) => `${setting} (${originText(origin)})`)
  const otel = shownSettings(flags, environment).find(({ setting }) => setting === 'otel')?.value
  const traces = tracingSettings(typeof otel === 'string' ? otel : undefined, environment, RELEASE)
  const isGiven = (name: string) => given.some(({ setting }) => setting === name)
  const useless = Object.entries(DEPENDENT).flatMap(([needed, settings]) =>
    isGiven(needed) ? [] : settings.filter(isGiven).map(setting => ({ setting, needed })),
  )
  return [
    ok('settings', described.length === 0 ? 'all have their defaults' : `given: ${described.join(', ')}`),
    ...useless.map(({ setting, needed }) =>
      warning(
        'settings',
        `${setting} means nothing without ${needed}`,
        `set ${needed}, or remove ${setting}`,
      ),
    ),
    ...(traces === null ? [] : [ok('traces', `are sent to ${new URL(traces.endpoint).host}`)]),
    ...(traces?.ignored ?? []).map(text =>
      warning('traces', text, 'unset the variable, or give it a value that is supported'),
    ),
  ]
}

const SIGNS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const

function findingText({ check, status, message, advice }: DoctorFinding): string {
  const first = `${SIGNS[status]}  ${check}: ${message.replaceAll('\n', '\n         ')}\n`
  return advice === undefined ? first : `${first}         ${advice}\n`
}
