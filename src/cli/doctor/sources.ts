import { readHarvesters } from '../../harvest/settings.ts'
import { harvestState } from '../../harvest/state.ts'
import { readDefinition } from '../../publishing/definition.ts'
import { remoteStates } from '../../publishing/remote/state.ts'
import { type DoctorFinding, ok, warning } from './finding.ts'

/** Checks the source addresses of datasets: when each last responded, and why it has failed since. */
export function diagnoseSources(portal: string, now: number): readonly DoctorFinding[] {
  const known = remoteStates(portal).filter(([id]) => readDefinition(portal, id).definition?.remote != null)
  if (known.length === 0) return []
  const failing = known.filter(([, { failures }]) => failures > 0)
  if (failing.length === 0)
    return [ok('sources', `${known.length} addresses of datasets answered when they were last asked`)]
  return failing.map(([id, { failures, reason, fetched }]) => {
    const age =
      fetched === undefined
        ? 'there are no data yet'
        : `the data in force are ${days(now - Date.parse(fetched))} old`
    return warning(
      'sources',
      `${id}: failed ${failures} times, ${age}: ${reason ?? ''}`,
      `lodestone publish ${id} asks the address again`,
    )
  })
}

function days(milliseconds: number): string {
  const hours = Math.floor(milliseconds / 3_600_000)
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
}

/** Checks the harvested catalogs: when each could last be read, and why it has failed since. */
export function diagnoseHarvests(portal: string, now: number): readonly DoctorFinding[] {
  return readHarvesters(portal).map(harvester => {
    const { failures, reason, confirmed, datasets, counts } = harvestState(portal, harvester)
    const left = counts?.left === undefined ? '' : ` (${counts.left} more left out)`
    const count = `${Object.keys(datasets).length} datasets${left}`
    const age =
      confirmed === undefined
        ? 'never read yet'
        : `last read ${Math.floor((now - Date.parse(confirmed)) / 3_600_000)} hours ago`
    return failures === 0
      ? ok('harvest', `${harvester.id}: ${count}, ${age}`)
      : warning(
          'harvest',
          `${harvester.id}: failed ${failures} times, ${count} stay, ${age}: ${reason ?? ''}`,
          `lodestone harvest ${harvester.id} asks the catalog again`,
        )
  })
}
