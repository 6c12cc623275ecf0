/** The prefixes, classes and properties of datasets for queries. */
export interface QueryVocabulary {
  readonly prefixes: Readonly<Record<string, string>>
  readonly classes: readonly string[]
  readonly properties: readonly string[]
}

/** Completions at a position of a query, and the text that they replace. */
export interface Completions {
  readonly from: number
  readonly to: number
  readonly offers: readonly SparqlCompletion[]
}

export interface SparqlCompletion {
  readonly label: string
  readonly detail: string
  /** The declaration that the query needs with it; null for none. */
  readonly declaration: string | null
}

const KEYWORDS =
  'SELECT DISTINCT WHERE OPTIONAL FILTER UNION MINUS BIND VALUES GRAPH SERVICE GROUP BY HAVING ORDER LIMIT OFFSET PREFIX CONSTRUCT DESCRIBE ASK EXISTS NOT REGEX CONTAINS STRSTARTS LANG LANGMATCHES DATATYPE COUNT SUM AVG MIN MAX SAMPLE GROUP_CONCAT STR IRI BOUND COALESCE IF YEAR MONTH DAY'.split(
    ' ',
  )

const MAX_OFFERS = 12

/**
 * Completions at the cursor of a SPARQL query: prefixes, classes and properties of the datasets, variables of the query, and
 * keywords; null for none.
 *
 * @param at offset of the cursor
 */
export function sparqlCompletions(text: string, at: number, vocabulary: QueryVocabulary): Completions | null {
  const before = text.slice(0, at)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  if (/^[^"']*(?:"[^"]*"[^"]*)*"[^"]*$|^\s*#/.test(line)) return null
  const found = (word: string, offers: readonly SparqlCompletion[]): Completions | null =>
    offers.length === 0 || (offers.length === 1 && offers[0]?.label === word)
      ? null
      : { from: at - word.length, to: at, offers: offers.slice(0, MAX_OFFERS) }
  const declaration = /\bPREFIX\s+([\w-]*)$/i.exec(line)
  if (declaration !== null) return found(declaration[1] ?? '', prefixOffers(declaration[1] ?? '', vocabulary))
  const iri = /<[^<>"{}|^`\\\s]*$/.exec(line)?.[0]
  if (iri !== undefined && iri.length > 1)
    return found(
      iri,
      termsOf(vocabulary, before).flatMap(term => (term.includes(iri.slice(1)) ? [plain(`<${term}>`)] : [])),
    )
  const variable = /[?$]\w*$/.exec(line)?.[0]
  if (variable !== undefined) return found(variable, variableOffers(text, variable))
  const name = /[A-Za-z][\w-]*:[\w%.-]*$/.exec(line)?.[0]
  if (name !== undefined) return found(name, nameOffers(text, before, name, vocabulary))
  const word = /(?<![\w:?$<@^-])[A-Za-z_]{2,}$/.exec(line)?.[0]
  if (word === undefined) return null
  const small = word.toLowerCase()
  const words = KEYWORDS.filter(
    keyword => keyword.startsWith(word.toUpperCase()) && keyword !== word.toUpperCase(),
  )
  const localOf = ({ label }: SparqlCompletion) => (label.split(':')[1] ?? '').toLowerCase()
  const names = namesOf(vocabulary, text, before).filter(option => localOf(option).includes(small))
  const [begun, within] = [true, false].map(isBegun =>
    names.filter(option => localOf(option).startsWith(small) === isBegun),
  )
  const locals = [...(begun ?? []), ...(within ?? [])]
  return found(word, [...words.map(plain), ...locals])
}

function plain(label: string): SparqlCompletion {
  return { label, detail: '', declaration: null }
}

function prefixOffers(begun: string, { prefixes }: QueryVocabulary): readonly SparqlCompletion[] {
  return Object.entries(prefixes).flatMap(([prefix, space]) =>
    prefix.startsWith(begun) ? [plain(`${prefix}: <${space}>`)] : [],
  )
}

function variableOffers(text: string, begun: string): readonly SparqlCompletion[] {
  const names = new Set(Array.from(text.matchAll(/[?$](\w+)/g), ([, name = '']) => `${begun[0]}${name}`))
  return [...names].filter(name => name.startsWith(begun) && name !== begun).map(plain)
}

function nameOffers(
  text: string,
  before: string,
  begun: string,
  vocabulary: QueryVocabulary,
): readonly SparqlCompletion[] {
  const [prefix = '', local = ''] = begun.toLowerCase().split(':')
  const names = namesOf(vocabulary, text, before).filter(({ label }) =>
    label.toLowerCase().startsWith(`${prefix}:`),
  )
  const isBegun = ({ label }: SparqlCompletion) => label.toLowerCase().startsWith(`${prefix}:${local}`)
  const others = names.filter(option => !isBegun(option) && option.label.toLowerCase().includes(local))
  return [...names.filter(isBegun), ...others]
}

/** Classes and properties; classes first after `a` and rdf:type. */
function termsOf({ classes, properties }: QueryVocabulary, before: string): readonly string[] {
  return /(?:\sa|rdf:type)\s+\S*$/.test(before) ? [...classes, ...properties] : [...properties, ...classes]
}

/** The same as names with prefixes, and the declarations that the query lacks. */
function namesOf(vocabulary: QueryVocabulary, text: string, before: string): readonly SparqlCompletion[] {
  const declared = new Map(
    Array.from(text.matchAll(/\bPREFIX\s+([\w-]*):\s*<([^<>\s]*)>/gi), ([, prefix = '', space = '']) => [
      prefix,
      space,
    ]),
  )
  const known = [
    ...declared,
    ...Object.entries(vocabulary.prefixes).filter(([prefix]) => !declared.has(prefix)),
  ]
  return termsOf(vocabulary, before).flatMap(iri => {
    const [prefix, space = ''] = known
      .filter(([, space]) => iri.startsWith(space) && /^[\w-]+$/.test(iri.slice(space.length)))
      .sort(([, a], [, b]) => b.length - a.length)[0] ?? [undefined]
    if (prefix === undefined) return []
    const declaration = declared.has(prefix) ? null : `PREFIX ${prefix}: <${space}>\n`
    return [{ label: `${prefix}:${iri.slice(space.length)}`, detail: iri, declaration }]
  })
}
