import { declareFault } from '../errors/errors.ts'
import { groupedBy } from '../model/memoised.ts'
import { words } from '../model/words.ts'
import type { MappingPlace } from './ir.ts'

/** An error prevents the use of a mapping; a warning reports a probable mistake; the rest is informational. */
export type Severity = 'error' | 'warning' | 'info'

/** A diagnostic of a mapping, in plain words and with its position (Mapping 4.1). */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  /** What was found and what was expected. */
  readonly message: string
  readonly place: MappingPlace
  /** How to fix it, if known. */
  readonly hint?: string
  /** Further occurrences, in document order. */
  readonly repeats?: readonly MappingPlace[]
}

export const ERRORS = words(
  'yaml-syntax yaml-duplicate-key yaml-too-big alias-bomb turtle-syntax doc-not-map no-mappings',
  'mapping-empty key-unknown key-twice value-shape subject-missing subject-not-iri object-not-iri',
  'graph-not-iri reference-unknown-field reference-syntax predicate-not-iri prefix-unknown',
  'prefix-iri-invalid iri-invalid-char class-not-iri link-unknown link-target-without-subject',
  'datatype-and-language language-invalid datatype-not-iri datatype-unknown po-shape',
  'constant-ill-typed source-unknown unsupported limits',
)

export const WARNINGS = words(
  'field-unused field-type-vs-datatype datatype-from-field suffix-unknown subject-blank',
  'subject-constant predicate-has-reference column-repeated looks-like-curie looks-like-link',
  'looks-like-reference looks-like-key stray-quote iri-unusual term-unknown prefix-without-separator',
  'looks-like-iri-without-scheme equals-mapping-key-with-datatype duplicate-rule class-missing',
  'label-missing resource-not-dereferenceable subject-collision-risk multivalued-in-subject long-iri',
  'iri-field-not-url http-vs-https mapping-isolated prefix-unused prefix-redefines-default',
  'language-unusual lossy-datatype',
)

export const INFORMATION = ['sources-ignored', 'authors-ignored'] as const

export type DiagnosticCode =
  | (typeof ERRORS)[number]
  | (typeof WARNINGS)[number]
  | (typeof INFORMATION)[number]

/** The severity of a code. */
export function severityOf(code: DiagnosticCode): Severity {
  if ((ERRORS as readonly string[]).includes(code)) return 'error'
  return (WARNINGS as readonly string[]).includes(code) ? 'warning' : 'info'
}

/** A diagnostic with the severity of its code. */
export function diagnosticOf(
  code: DiagnosticCode,
  place: MappingPlace,
  message: string,
  hint?: string,
): Diagnostic {
  return { code, severity: severityOf(code), message, place, ...(hint === undefined ? {} : { hint }) }
}

/** The place of a diagnostic about a whole document. */
export const DOCUMENT_START: MappingPlace = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }

/** True if an error prevents the use of a mapping. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/** Maximum number of diagnostics of one document: further ones mostly repeat the others. */
const MAX_DIAGNOSTICS = 500

/** True if there are so many diagnostics that another one is left out; not the first error, which decides about the mapping. */
export function isOneTooMany(code: DiagnosticCode, before: readonly Diagnostic[]): boolean {
  return before.length >= MAX_DIAGNOSTICS && (severityOf(code) !== 'error' || hasErrors(before))
}

/** Merges equal diagnostics: one that occurs in several places is reported at the first of them. */
export function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = groupedBy(diagnostics, ({ code, message, hint = '' }) => `${code} ${message} ${hint}`)
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : others.length === 0
        ? [first]
        : [{ ...first, repeats: others.flatMap(placesOf) }],
  )
}

/** All places of a diagnostic. */
export function placesOf({ place, repeats = [] }: Diagnostic): readonly MappingPlace[] {
  return [place, ...repeats]
}

/** Maximum lines of repeats in a terminal. */
const MAX_LINES = 5

/** Formats a diagnostic for a terminal: file, position, severity and code, message, hint. */
export function diagnosticText(file: string, diagnostic: Diagnostic): string {
  const { code, severity, place, hint } = diagnostic
  const report = `${file}:${place.line}:${place.column}: ${severity} ${code}: ${messageText(diagnostic)}`
  return hint === undefined ? report : `${report}\n  ${hint}`
}

/** The message of a diagnostic with its number of occurrences and further lines. */
export function messageText(diagnostic: Diagnostic): string {
  const { message, place } = diagnostic
  const places = placesOf(diagnostic)
  if (places.length === 1) return message
  const lines = [...new Set(places.map(({ line }) => line))].filter(line => line !== place.line)
  const more = lines.length > MAX_LINES ? ' …' : ''
  const where = lines.length === 0 ? '' : `, also in line ${lines.slice(0, MAX_LINES).join(', ')}${more}`
  return `${message} (${places.length} times${where})`
}

/** A mapping that cannot be read, applied or written. */
export const MAPPING_INVALID = declareFault('MappingInvalid', 500, '{reason}')
