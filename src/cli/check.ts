import { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { Fault, faultText } from '../errors/errors.ts'
import { HARVEST_FILE, readHarvesters } from '../harvest/settings.ts'
import { type CheckFinding, checkDataset, checkPortal } from '../publishing/check.ts'
import { definedDatasets } from '../publishing/definition.ts'
import { versionsOf } from '../publishing/versions/versions.ts'
import { JSON_OPTION, PORTAL_OPTION, type PortalOptions, servedConfigOf } from './options.ts'
import { printError, printJson, printText } from './print.ts'

interface CheckOptions extends PortalOptions {
  readonly shapes?: string
}

/** `lodestone check`: everything that publishing would refuse or drop, with its position. */
export function checkCommand(): Command {
  return new Command('check')
    .description('report everything that publishing would refuse or drop, with file, line and column')
    .argument('[datasets...]', 'ids of datasets (default: all)')
    .option('--shapes <file>', 'apply SHACL shapes to what is published instead')
    .option(...PORTAL_OPTION)
    .option(...JSON_OPTION)
    .action(async (datasets: string[], options: CheckOptions) => {
      const config = servedConfigOf(options)
      const findings =
        options.shapes === undefined
          ? await sourceFindings(config, datasets)
          : await shapeFindings(config, datasets, options.shapes)
      if (options.json === true) printJson(findings)
      else
        for (const finding of findings)
          printText(`${finding.severity}: ${finding.dataset}: ${finding.message}\n`)
      if (findings.some(({ severity }) => severity === 'error')) process.exitCode = 1
    })
}

async function sourceFindings(
  { portal, base }: Pick<Config, 'portal' | 'base'>,
  ids: readonly string[],
): Promise<readonly CheckFinding[]> {
  if (ids.length === 0)
    return [...(await checkPortal(portal, base, versionsOf(portal))), ...harvestFindings(portal)]
  const findings: CheckFinding[] = []
  for (const id of ids) findings.push(...(await checkDataset(portal, base, id, ids)))
  return findings
}

/** The mistakes of harvest.yaml. */
function harvestFindings(portal: string): readonly CheckFinding[] {
  try {
    readHarvesters(portal)
    return []
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const problems = faultText(error).split('\n')
    return problems.map(message => ({ dataset: HARVEST_FILE, severity: 'error', message }))
  }
}

/** The values that do not conform to the shapes of a file (SHACL, section 3). */
async function shapeFindings(
  { portal, keepVersions }: Pick<Config, 'portal' | 'keepVersions'>,
  named: readonly string[],
  file: string,
): Promise<readonly CheckFinding[]> {
  // The validator is large, and needed only here.
  const { checkShapes, readShapesFile } = await import('../publishing/shapes/check-shapes.ts')
  const shapes = readShapesFile(file)
  for (const ignored of shapes.ignored) printError(`warning: ${file}: ${ignored} are not evaluated\n`)
  const versions = versionsOf(portal, keepVersions)
  const ids = named.length > 0 ? named : definedDatasets(portal)
  const findings: CheckFinding[] = []
  for (const id of ids) findings.push(...(await checkShapes(versions, id, shapes)))
  return findings
}
