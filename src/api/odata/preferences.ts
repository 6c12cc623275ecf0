import type { RequestHeaders } from './versions.ts'

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
