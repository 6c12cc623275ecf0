import { Fault } from '../../errors/errors.ts'
import { ODATA_ERROR } from '../../language/odata/faults.ts'
import type { Version } from './format/shape.ts'

/** The version that the headers request; null leaves the choice to the media type. */
export type RequestedVersion = Version | null

/** Headers of a request by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>> & {
  readonly accept?: string | undefined
}

/**
 * Reads the requested version (OData 4.0 Protocol 8.2.6 and 8.2.7, OData 3.0 section 5; OData service 1.1): 4.0 if it is
 * allowed, else the highest allowed of 3.0 and 2.0.
 *
 * Faults: ODataError for an invalid version, a maximum below 2.0 and a minimum above 4.0.
 */
export function readVersions(headers: RequestHeaders): RequestedVersion {
  const [max, requested, maxOld, requestedOld] = (
    ['odata-maxversion', 'odata-version', 'maxdataserviceversion', 'dataserviceversion'] as const
  ).map(name => versionIn(headers, name))
  refuseMinimum(headers, 'odata-minversion', 4)
  refuseMinimum(headers, 'mindataserviceversion', max !== undefined && max >= 4 ? 4 : 3)
  if (requested !== undefined && requested > NEWEST)
    throw new Fault(ODATA_ERROR, {
      reason: `OData-Version: version ${requested} is not understood, use 4.0 or 3.0.`,
    })
  const newer = max ?? requested
  if (newer !== undefined) {
    if (newer >= 4) return '4.0'
    return older('OData-MaxVersion', newer)
  }
  if (maxOld !== undefined) return maxOld >= 4 ? null : older('MaxDataServiceVersion', maxOld)
  if (requestedOld === undefined || requestedOld >= 4) return null
  return requestedOld >= 3 ? '3.0' : '2.0'
}

/** The newest version that a request may be written in. */
const NEWEST = 4.01

function older(header: string, max: number): RequestedVersion {
  if (max >= 3) return '3.0'
  if (max >= 2 && header === 'MaxDataServiceVersion') return '2.0'
  throw new Fault(ODATA_ERROR, {
    reason: `${header}: this service speaks versions 4.0, 3.0 and 2.0 of OData, none of which is at most ${max}.`,
  })
}

function refuseMinimum(headers: RequestHeaders, name: keyof typeof NAMES, max: number): void {
  const least = versionIn(headers, name)
  if (least === undefined || least <= max) return
  throw new Fault(ODATA_ERROR, {
    reason: `${NAMES[name]}: this service speaks no version of OData from ${least} on.`,
  })
}

const NAMES = {
  'odata-maxversion': 'OData-MaxVersion',
  'odata-version': 'OData-Version',
  'odata-minversion': 'OData-MinVersion',
  maxdataserviceversion: 'MaxDataServiceVersion',
  dataserviceversion: 'DataServiceVersion',
  mindataserviceversion: 'MinDataServiceVersion',
} as const

/** A version as a number: 4.01 is later than 4.0. The part after a semicolon is the name of a client. */
function versionIn(headers: RequestHeaders, name: keyof typeof NAMES): number | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  const text = Array.isArray(value) ? value.join(',') : value
  const version = /^\s*(\d{1,3}\.\d{1,3})\s*(?:;|$)/.exec(text)?.[1]
  if (version !== undefined) return Number(version)
  throw new Fault(ODATA_ERROR, {
    reason: `${NAMES[name]}: ${JSON.stringify(text.slice(0, 40))} is no version such as 4.0.`,
  })
}

/** The header with the version of an answer: one of the two and never both. */
export function versionHeader(version: Version): readonly [name: string, value: string] {
  return version === '4.0' ? ['odata-version', version] : ['dataserviceversion', `${version};`]
}

/** Default and maximum number of entities of a page (OData service 2.4). */
const ODATA_PAGE = 1000
const MAX_ON_A_PAGE = 10_000

/** The preferences of a client, and those that are applied (OData 4.0 Protocol 8.2.8). */
export interface Preferences {
  readonly pageSize: number
  readonly omitNulls: boolean
  /** The texts for `Preference-Applied`, by preference. */
  readonly applied: { readonly pageSize: string | null; readonly omitNulls: string | null }
}

const MAX_LENGTH = 2000

/**
 * Reads the Prefer header (RFC 7240): `maxpagesize` and `omit-values`, each also with the prefix `odata.`. Unknown
 * and malformed preferences are ignored, and of duplicates the first counts.
 */
export function readPreferences(headers: RequestHeaders): Preferences {
  const header = headers.prefer
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  const size = preference(text, 'maxpagesize')
  const required = size !== null && /^\d{1,15}$/.test(size.value) ? Number(size.value) : 0
  const pageSize = required > 0 ? Math.min(required, MAX_ON_A_PAGE) : ODATA_PAGE
  const omitted = preference(text, 'omit-values')
  const omitNulls = omitted?.value.toLowerCase() === 'nulls'
  return {
    pageSize,
    omitNulls,
    applied: {
      pageSize: size !== null && required > 0 ? `${size.name}=${pageSize}` : null,
      omitNulls: omitted !== null && omitNulls ? `${omitted.name}=nulls` : null,
    },
  }
}

function preference(
  header: string,
  required: string,
): { readonly name: string; readonly value: string } | null {
  for (const part of header.slice(0, MAX_LENGTH).split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map(piece => piece.trim())
    if (name.toLowerCase().replace(/^odata\./, '') !== required) continue
    return { name: name.toLowerCase(), value: value.replace(/^"(.*)"$/, '$1') }
  }
  return null
}
