import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { EngineKind } from './addresses.ts'

/** Schemes of Virtuoso's SQL functions: these read files, and change stored data. */
const SCHEMES: readonly string[] = ['bif:', 'sql:']

const IRI = /<\s*([^<>"{}|^`\s]*)\s*>/g
const NAMESPACE = /\b(?:PREFIX\s+[^\s<]*:|BASE)\s*<\s*([^<>"{}|^`\s]*)\s*>/gi

/**
 * Refuses an untrusted query that calls functions of an engine outside of SPARQL. Namespaces that a name could complete to such a
 * scheme are refused as well. Faults: BadRequest.
 */
export function refuseEngineFunctions(kind: EngineKind, query: string): void {
  if (kind !== 'virtuoso') return
  const text = query.replace(
    /\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/gi,
    (whole, short?: string, long?: string) => {
      const code = Number.parseInt(short ?? long ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
  const isCall = (iri: string) => SCHEMES.some(scheme => iri.toLowerCase().startsWith(scheme))
  const mayBecome = (namespace: string) =>
    isCall(namespace) || SCHEMES.some(scheme => scheme.startsWith(namespace.toLowerCase()))
  const found =
    [...text.matchAll(IRI)].map(([, iri = '']) => iri).find(isCall) ??
    [...text.matchAll(NAMESPACE)].map(([, namespace = '']) => namespace).find(mayBecome)
  if (found !== undefined)
    throw new Fault(BAD_REQUEST, {
      reason: `<${found.slice(0, 100)}>: functions of the engine are not served.`,
    })
}
