import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { placeText } from '../../errors/errors.ts'
import { readHarvesters } from '../../harvest/settings.ts'
import { harvestState } from '../../harvest/state.ts'
import { portalPrefixes, readMapping } from '../../mapping/read.ts'
import { definedDatasets, readDefinition } from '../../publishing/definition.ts'
import { mappingFile } from '../../publishing/mapping/mapping-file.ts'
import { reasonOf } from '../../publishing/publish.ts'
import { remoteStates } from '../../publishing/remote/state.ts'
import {
  currentManifest,
  isInPreparation,
  isWithdrawn,
  publishedDatasets,
  storedDatasets,
  type Versions,
  versionsOf,
} from '../../publishing/versions/versions.ts'
import { sourceFiles } from '../../sources/open.ts'
import { checkPublished } from '../backup/contents.ts'
import { counted } from '../print.ts'
import { type DoctorFinding, ok, problem, warning } from './finding.ts'

/** Checks whether every dataset.yaml, every mapping and every file of a source can be read. `lodestone check` reads the data as well. */
export function diagnoseDefinitions(portal: string, base: string): readonly DoctorFinding[] {
  const ids = definedDatasets(portal)
  if (ids.length === 0) {
    const advice = 'lodestone import FILE makes the folder of a dataset'
    return [warning('data', `${path.join(portal, 'data')} has no datasets`, advice)]
  }
  const wrong = ids.flatMap(id => [
    ...definitionFindings(portal, id),
    ...sourceFindings(portal, id),
    ...mappingFindings(portal, base, id),
  ])
  return wrong.length > 0
    ? wrong
    : [ok('data', `${counted(ids.length, 'dataset')} can be read, and the mappings`)]
}

function definitionFindings(portal: string, id: string): readonly DoctorFinding[] {
  return readDefinition(portal, id).problems.map(({ message, place }) =>
    problem('data', `${id}: ${placeText(place)}${message}`, 'correct it; lodestone check has details'),
  )
}

function sourceFindings(portal: string, id: string): readonly DoctorFinding[] {
  const { definition } = readDefinition(portal, id)
  if (definition === null || definition.remote !== null) return []
  const { source, sourceFolder: datasetFolder } = definition
  try {
    for (const file of sourceFiles(source, { datasetFolder, portalFolder: portal }))
      accessSync(file, constants.R_OK)
    return []
  } catch (error) {
    const advice = `put it back, or remove the folder of ${id}; what is published stays until then`
    return [problem('data', `${id}: ${reasonOf(error)}`, advice)]
  }
}

function mappingFindings(portal: string, base: string, id: string): readonly DoctorFinding[] {
  const found = mappingFile(portal, id)
  if (found === null) return []
  const { diagnostics } = readMapping(found.text, path.basename(found.file), {
    prefixes: portalPrefixes(base, id),
  })
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ message, place }) =>
      problem(
        'mapping',
        `${found.file}:${place.line}:${place.column}: ${message}`,
        `lodestone mapping check ${id} has details`,
      ),
    )
}

/** Reads the published versions completely, and finds files that should not exist. */
export async function diagnoseVersions(portal: string, base: string): Promise<readonly DoctorFinding[]> {
  const versions = versionsOf(portal)
  const findings: DoctorFinding[] = []
  const published = publishedDatasets(versions)
  const older: string[] = []
  let triples = 0
  for (const id of published) {
    const found = await checkPublished(versions, id)
    triples += found?.triples ?? 0
    if (found !== null && found.problem !== null)
      findings.push(
        problem(
          'versions',
          `${id}: ${found.problem}`,
          `lodestone publish ${id} makes it again of its source`,
        ),
      )
    else if (found?.isServed === false) older.push(id)
  }
  const elsewhere = published.filter(id => (currentManifest(versions, id)?.base ?? base) !== base)
  const anew = [
    [older, 'published by another version of lodestone'],
    [elsewhere, `published for another base than ${base}`],
  ] as const
  for (const [ids, what] of anew)
    if (ids.length > 0) {
      const advice = 'lodestone publish makes them anew, as serve does at its start'
      findings.push(warning('versions', `${what}: ${namesOf(ids)}`, advice))
    }
  const missing = definedDatasets(portal).filter(id => !published.includes(id) && !isWithdrawn(versions, id))
  if (missing.length > 0) {
    const message = `not published yet: ${namesOf(missing)}`
    findings.push(warning('versions', message, 'lodestone publish, or serve at its start, does it'))
  }
  if (findings.length === 0)
    findings.push(
      ok(
        'versions',
        `${counted(published.length, 'published version')} can be read whole: ${counted(triples, 'triple')}`,
      ),
    )
  return [...findings, ...leftovers(portal, versions)]
}

/** Leftovers of processes that died; publishing and serving remove their own at their next start. */
function leftovers(portal: string, versions: Versions): readonly DoctorFinding[] {
  const left = [
    ...storedDatasets(versions).flatMap(id =>
      namesIn(path.join(versions.root, id))
        .filter(name => name.startsWith('preparing-') && !isInPreparation(path.join(versions.root, id), name))
        .map(name => path.join(versions.root, id, name)),
    ),
    ...namesIn(portal)
      .filter(name => name.startsWith('.restoring-'))
      .map(name => path.join(portal, name)),
    ...namesIn(path.join(portal, 'data'))
      .filter(name => /^\..*\.importing$/.test(name))
      .map(name => path.join(portal, 'data', name)),
  ]
  if (left.length === 0) return []
  const advice = 'remove them, where no lodestone publishes, imports or restores'
  return [warning('leftovers', namesOf(left), advice)]
}

/** Maximum number of names in a finding. */
const MAX_NAMES = 10

function namesOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return names.slice(0, MAX_NAMES).join(', ') + more
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

/** Checks the source addresses of datasets: when each last responded, and why it has failed since. */
export function diagnoseSources(portal: string, now: number): readonly DoctorFinding[] {
  const known = remoteStates(portal).filter(([id]) => readDefinition(portal, id).definition?.remote != null)
  if (known.length === 0) return []
  const failing = known.filter(([, { failures }]) => failures > 0)
  if (failing.length === 0)
    return [
      ok('sources', `${counted(known.length, 'address', 'addresses')} of datasets answered when last asked`),
    ]
  return failing.map(([id, { failures, reason, fetched }]) => {
    const age =
      fetched === undefined
        ? 'there are no data yet'
        : `the data in force are ${days(now - Date.parse(fetched))} old`
    return warning(
      'sources',
      `${id}: failed ${counted(failures, 'time')}, ${age}: ${reason ?? ''}`,
      `lodestone publish ${id} asks the address again`,
    )
  })
}

function days(milliseconds: number): string {
  const hours = Math.floor(milliseconds / 3_600_000)
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day')
}

/** Checks the harvested catalogs: when each could last be read, and why it has failed since. */
export function diagnoseHarvests(portal: string, now: number): readonly DoctorFinding[] {
  return readHarvesters(portal).map(harvester => {
    const { failures, reason, confirmed, datasets, counts } = harvestState(portal, harvester)
    const left = counts?.left === undefined ? '' : ` (${counts.left} more left out)`
    const count = counted(Object.keys(datasets).length, 'dataset') + left
    const age =
      confirmed === undefined ? 'never read yet' : `last read ${days(now - Date.parse(confirmed))} ago`
    return failures === 0
      ? ok('harvest', `${harvester.id}: ${count}, ${age}`)
      : warning(
          'harvest',
          `${harvester.id}: failed ${counted(failures, 'time')}, ${count} stay, ${age}: ${reason ?? ''}`,
          `lodestone harvest ${harvester.id} asks the catalog again`,
        )
  })
}
