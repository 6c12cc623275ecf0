import { highlightTokens } from '../parts/highlight.ts'

/** Keywords that begin a line. */
const BEGINS = /^(?:select|filter|optional|bind|values|minus|graph|where|group|order|having|limit|offset)$/i

/** The end of a text after which such a keyword does not begin a new line. */
const GOES_ON = /(?:^|\(|\b(?:group|order|as|not))\s*$/i

/**
 * Formats a one-line query: a line for each pattern, groups indented, and IRIs shortened by prefixes, with declarations of
 * the used ones.
 */
export function layOutSparql(query: string, prefixes: Readonly<Record<string, string>> = {}): string {
  const used = new Map<string, string>()
  const lines: string[] = []
  let line = ''
  let depth = 0
  const end = () => {
    if (line.trim() !== '') lines.push('  '.repeat(Math.max(0, depth)) + line.trim())
    line = ''
  }
  for (const piece of piecesOf(query)) {
    if (/^\s/.test(piece)) line += line === '' ? '' : ' '
    else if (piece === '{') {
      line += piece
      end()
      depth += 1
    } else if (piece === '}') {
      end()
      depth -= 1
      line = piece
    } else if (piece === '.' || piece === ';') {
      line = `${line.trimEnd()} ${piece}`
      end()
    } else {
      if (BEGINS.test(piece) && !GOES_ON.test(line)) end()
      line += piece.startsWith('<') ? shortened(piece, prefixes, used) : piece
    }
  }
  end()
  const heads = [...used].map(([prefix, namespace]) => `PREFIX ${prefix}: <${namespace}>`)
  return [...heads, ...(heads.length === 0 ? [] : ['']), ...lines].join('\n')
}

function piecesOf(query: string): readonly string[] {
  return highlightTokens(query, 'sparql').flatMap(({ kind, text }) =>
    kind === 'plain' ? (text.match(/\s+|[{};.]|[^\s{};.]+/g) ?? []) : [text],
  )
}

function shortened(
  iri: string,
  prefixes: Readonly<Record<string, string>>,
  used: Map<string, string>,
): string {
  const value = iri.slice(1, -1)
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    const rest = value.startsWith(namespace) ? value.slice(namespace.length) : ''
    if (!/^[A-Za-z_][\w-]*$/.test(rest)) continue
    used.set(prefix, namespace)
    return `${prefix}:${rest}`
  }
  return iri
}
