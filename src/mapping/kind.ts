export type MappingKind = 'yarrrml' | 'rml'

/** The language of a mapping: according to its text, because a text can be pasted into any file; else according to its file name. */
export function mappingKind(text: string, file: string): MappingKind {
  return textKind(text) ?? (/\.(ttl|rml|n3|turtle)$/i.test(file) ? 'rml' : 'yarrrml')
}

/** The beginning of a Turtle document: a directive, or a subject and what follows it. */
const TURTLE =
  /^(?:@(?:prefix|base)\s|(?:prefix|base)\s+[^\s:]*:?\s*<|<[^>\s]*>\s|_:\S+\s|\[\s*(?:\]|a\s|[\w-]+:[\w-]))/i
/** The beginning of a YAML map: a key and a colon. */
const YAML = /^(?:---|%YAML\b|\{|(?:[\w-]+|"[^"\n]*"|'[^'\n]*')\s*:(?:\s|$))/

/** The language according to the first line that is no comment; null if it matches neither. */
function textKind(text: string): MappingKind | null {
  const begin = text.slice(0, MAX_COMMENT).replace(/^(?:\ufeff|\s+|#.*(?:\n|$))+/, '')
  if (TURTLE.test(begin)) return 'rml'
  return YAML.test(begin) ? 'yarrrml' : null
}

/** Maximum characters of comments that are skipped. */
const MAX_COMMENT = 20_000
