/** Stands for "no language", for which the engine has no notation; no file uses it. */
const NO_LANGUAGE = 'x-portal-none'

/** Maximum bytes of a document that is rewritten: a string of V8 holds 512 MiB. */
const MAX_LENGTH = 2 ** 28

/** Comments and processing instructions, which stay as they are, CDATA sections, and tags. */
const MARKUP = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<[^<>!?][^<>]*>/g

/**
 * RDF/XML without what is valid there and refused by the engine: CDATA sections beside other text, and `xml:lang=""` (RDF/XML
 * 1.1, section 2.8). Lines stay the same. The text is read byte by byte, so that its encoding does not matter.
 */
export function readableRdfXml(document: readonly Uint8Array[]): readonly Uint8Array[] {
  if (document.reduce((sum, { length }) => sum + length, 0) > MAX_LENGTH) return document
  const text = Buffer.concat(document).toString('latin1')
  if (!/<!\[CDATA\[|xml:lang\s*=\s*(?:""|'')/.test(text)) return document
  const readable = text.replace(MARKUP, (markup, characters: string | undefined) => {
    if (characters !== undefined)
      return characters.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    return /^<[!?]/.test(markup)
      ? markup
      : markup.replace(/(\sxml:lang\s*=\s*)(?:""|'')/, `$1"${NO_LANGUAGE}"`)
  })
  return [Buffer.from(readable, 'latin1')]
}

/** A quad of that text, with its literals that have no language. */
export function withoutNoLanguage(quad: string): string {
  return quad.replaceAll(`"@${NO_LANGUAGE}`, '"')
}
