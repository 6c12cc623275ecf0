import { readHarvesters } from '../../harvest/settings.ts'
import { harvestState } from '../../harvest/state.ts'
import { type DoctorFinding, ok, warning } from './finding.ts'

/** Looks at the catalogs that datasets are taken over from: when each could last be read, and why not since. */
export function diagnoseHarvests(portal: string, now: number): readonly DoctorFinding[] {
  return readHarvesters(portal).map(harvester => {
    const { failures, reason, confirmed, datasets } = harvestState(portal, harvester)
    const count = `${Object.keys(datasets).length} datasets`
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
