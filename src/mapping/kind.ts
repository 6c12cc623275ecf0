export type MappingKind = 'yarrrml' | 'rml'

/**
 * The language of a mapping: what its text shows, for a text can be pasted into any file; else what the name of its file
 * says.
 */
export function mappingKind(text: string, file: string): MappingKind {
  return textKind(text) ?? (/\.(ttl|rml|n3|turtle)$/i.test(file) ? 'rml' : 'yarrrml')
}

/** How Turtle begins: a directive, or a subject and what follows it. */
const TURTLE =
  /^(?:@(?:prefix|base)\s|(?:prefix|base)\s+[^\s:]*:?\s*<|<[^>\s]*>\s|_:\S+\s|\[\s*(?:\]|a\s|[\w-]+:[\w-]))/i
/** How a map of YAML begins: a key and a colon. */
const YAML = /^(?:---|%YAML\b|\{|(?:[\w-]+|"[^"\n]*"|'[^'\n]*')\s*:(?:\s|$))/

/** The language that the first line shows which is no comment; null where it shows neither. */
function textKind(text: string): MappingKind | null {
  const begin = text.slice(0, MAX_COMMENT).replace(/^(?:\ufeff|\s+|#.*(?:\n|$))+/, '')
  if (TURTLE.test(begin)) return 'rml'
  return YAML.test(begin) ? 'yarrrml' : null
}

/** Characters of comments that are looked through. */
const MAX_COMMENT = 20_000
