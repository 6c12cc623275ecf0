import type { TextProfile } from './profile.ts'

const OTHER_DIGITS =
  'the values are digits of another script, which are texts: numbers and days have the digits 0 to 9'

const DAYS =
  'most values are days, but not all in one form, or of the calendar: write all of them as 2024-01-31'

const PROJECTED =
  'some values are geometries that are not valid, or not in degrees: publish the file with its reference system (.prj), or in EPSG:4326'

function nearText({ kind, unfittingValues }: NonNullable<ReturnType<TextProfile['nearly']>>) {
  if (unfittingValues.length > 0) {
    const shown = unfittingValues.map(it => JSON.stringify(it)).join(', ')
    const what = kind === 'pair' ? 'pairs of coordinates' : `${kind}s`
    return `most values are ${what}, but not ${shown}: correct these, or name a type and they become null`
  }
  // Values that all fit one date pattern but are no dates are seasons, such as 2007/08.
  if (kind === 'date') return undefined
  return kind === 'pair'
    ? "the values may be two coordinates: where they are, say type: geo_point_2d and format: 'lat,lon' or 'lon,lat'"
    : `most values are ${kind}s, in more than one form`
}

/**
 * What a publisher may do about a column that became text; undefined if nothing is known.
 *
 * @param near the kind of nearly all values
 * @param isProjected whether some are geometries with coordinates other than degrees
 */
export function suggestionOf(
  profile: TextProfile,
  near: ReturnType<TextProfile['nearly']>,
  isProjected: boolean,
): string | undefined {
  const found = near === undefined ? undefined : nearText(near)
  return (
    found ??
    (isProjected ? PROJECTED : profile.hasOtherDigits ? OTHER_DIGITS : profile.hasDays ? DAYS : undefined)
  )
}
