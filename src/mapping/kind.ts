/** The language of a mapping, by the name of its file, else by its text. */
export function mappingKind(text: string, file: string): 'yarrrml' | 'rml' {
  if (/\.(ttl|rml|n3|turtle)$/i.test(file)) return 'rml'
  if (/\.(ya?ml|yarrrml)$/i.test(file)) return 'yarrrml'
  return /^\s*(@prefix|@base|PREFIX|BASE|<[^>\s]*>|_:)/m.test(text.slice(0, 10_000)) ? 'rml' : 'yarrrml'
}
