import { isIri } from './iri-syntax.ts'

/** The parts of a reference (RFC 3986, appendix B); undefined for missing parts. */
const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s

/**
 * Resolves a reference against a base (RFC 3986, section 5.2; RFC 3987, section 6.5: no character is encoded). An absolute IRI
 * stays unchanged. Null where the result is no IRI.
 */
export function resolveIri(reference: string, base: string | null): string | null {
  if (isIri(reference)) return reference
  const parts = PARTS.exec(reference)
  if (base === null || parts === null || parts[1] !== undefined) return null
  // A colon in the first segment would make it a scheme (RFC 3986, section 4.2).
  if (parts[2] === undefined && /^[^/]*:/.test(parts[3] ?? '')) return null
  const origin = PARTS.exec(base)
  if (origin?.[1] === undefined) return null
  const [, scheme, ownAuthority, ownPath = '', ownQuery] = origin
  const [, , authority, path = '', query, fragment] = parts
  let resolved = `${scheme}:`
  if (authority !== undefined) resolved += `//${authority}${withoutDots(path)}${after('?', query)}`
  else {
    resolved += after('//', ownAuthority)
    if (path === '') resolved += ownPath + after('?', query ?? ownQuery)
    else if (path.startsWith('/')) resolved += withoutDots(path) + after('?', query)
    else resolved += withoutDots(merged(path, ownPath, ownAuthority)) + after('?', query)
  }
  resolved += after('#', fragment)
  return isIri(resolved) ? resolved : null
}

function after(mark: string, part: string | undefined): string {
  return part === undefined ? '' : mark + part
}

/** Section 5.2.3. */
function merged(path: string, ownPath: string, authority: string | undefined): string {
  if (authority !== undefined && ownPath === '') return `/${path}`
  return ownPath.slice(0, ownPath.lastIndexOf('/') + 1) + path
}

/** Section 5.2.4. */
function withoutDots(path: string): string {
  const segments = path.split('/')
  const merged: string[] = []
  segments.forEach((segment, at) => {
    const isLast = at === segments.length - 1
    if (segment === '..') {
      if (merged.length > 1 || (merged.length === 1 && merged[0] !== '')) merged.pop()
      if (isLast) merged.push('')
    } else if (segment === '.') {
      if (isLast) merged.push('')
    } else merged.push(segment)
  })
  return path.startsWith('/') && merged[0] !== '' ? `/${merged.join('/')}` : merged.join('/')
}
