/** Names of columns whose digits are no quantity. */
const IDENTIFIER =
  /(?:^|[^a-z])(?:zip|zip ?codes?|post ?codes?|postal ?codes?|postal|plz|cep|code ?postal|code ?commune|codigo ?postal|code ?insee|insee|com ?insee|siren|siret|fips|phone|telephone|isbn|issn|ean|gtin|upc|iban|ssn|geoid)(?![a-z])/i
/** Words that denote identifiers only as a complete name: cap is a postal code, market cap an amount. */
const SHORT_IDENTIFIER =
  /^(?:(?:no|nr|num|numero|number|code) )?(?:cap|cp|tel|mobile|fax|vat|nif|cif|ags)(?: (?:no|nr|num|numero|number|code|id))?$/i
/** Words that denote versions, and as a complete name parts of a text: 1.10 comes after 1.9. */
const OUTLINE =
  /(?:^| )(?:version|versie|versione|versao|wersja|verze|ver|release)(?: (?:no|nr|number|id))?$|^(?:section|chapter|clause|article|artikel|abschnitt|kapitel|chapitre|seccion|capitulo|sezione|capitolo|outline)(?: (?:no|nr|number|id))?$/i
const DATE_NAME =
  /(?:^|[^a-z])(?:dates?|day|datum|jour|fecha|data|dia|tag|dob|birth ?date|created|updated|modified|published|start|end|begin|debut|fin|von|bis|timestamp|time|at|on)(?![a-z])/i
const TIME_NAME =
  /(?:^|[^a-z])(?:timestamp|time|date|datetime|epoch|created|updated|modified|at|ts)(?![a-z])/i
export const POSITION_LONGITUDE_FIRST =
  /(?:^|[^a-z])(?:lo?ng?(?:itude)?[^a-z]*lat(?:itude)?|x[^a-z]*y|longlat|lonlat|lnglat)(?![a-z])/i

/** True for the name of a column whose digits are identifiers. */
export function namesIdentifier(name: string): boolean {
  const words = spaced(name).trim()
  return IDENTIFIER.test(words) || SHORT_IDENTIFIER.test(words)
}

/** True for the name of a column whose numbers with a point are no fractions. */
export function namesOutline(name: string): boolean {
  return OUTLINE.test(spaced(name).trim())
}

/** True for the name of a column with days or moments. */
export function namesDate(name: string): boolean {
  return DATE_NAME.test(spaced(name))
}

/** True for the name of a column whose integers may be seconds or milliseconds since 1970. */
export function namesTime(name: string): boolean {
  return TIME_NAME.test(spaced(name))
}

export function spaced(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/gi, ' ')
}
