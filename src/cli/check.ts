import { Command } from 'commander'
import { type CheckFinding, checkDataset } from '../publishing/check.ts'
import { definedDatasets } from '../publishing/definition.ts'
import { JSON_OPTION, PORTAL_OPTION, type PortalOptions } from './options.ts'
import { configOf } from './settings.ts'

/** `lodestone check`: everything that publishing would refuse or drop, with its place. */
export function checkCommand(): Command {
  return new Command('check')
    .description('tell everything that publishing would refuse or drop, with file, line and column')
    .argument('[datasets...]', 'ids of datasets (default: all)')
    .option(...PORTAL_OPTION)
    .option(...JSON_OPTION)
    .action(async (datasets: string[], options: PortalOptions & { readonly json?: boolean }) => {
      const { portal, base } = configOf(options)
      const findings: CheckFinding[] = []
      for (const id of datasets.length > 0 ? datasets : definedDatasets(portal))
        findings.push(...(await checkDataset(portal, base, id)))
      if (options.json === true) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
      else
        for (const finding of findings)
          process.stdout.write(`${finding.severity}: ${finding.dataset}: ${finding.message}\n`)
      if (findings.some(({ severity }) => severity === 'error')) process.exitCode = 1
    })
}
