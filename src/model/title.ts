/** Endings of data files, also combined as in `.csv.gz`. */
const ENDINGS =
  /(?:\.(?:csv|tsv|tab|txt|jsonl?|ndjson|geojson[ls]?|topojson|xls[xm]?|ods|parquet|geoparquet|pq|shp|gpkg|sqlite|db|fgb|km[lz]|gpx|ttl|turtle|nt|nq|n3|trig|rdf|owl|xml|jsonld|gz|zip|bz2|xz))+$/i

/** Dates, ranges and versions, whose signs do not separate words. */
const WITH_SIGNS = /((?<![\p{L}\p{N}])v?\d+(?:[-.]\d+)+(?![\p{L}\p{N}]))/iu

/** Letters and digits that form one word: formulae, standards, formats. */
const ONE_WORD = /^(?:[a-z]\d+|(?:co|no|so|ch|nh|pm|ph|iso|en|din|mp|utf|sha|md|nuts|covid|web)\d+)$/i

/** Maximum number of characters of a name that are used. */
const MAX_LENGTH = 200

/**
 * A readable title for a file of which only the name is known: `arbres8.csv` is `Arbres 8`, `velib_stationsParis-2024.csv.gz` is
 * `Velib stations Paris 2024`, `trees-2024-01-31` is `Trees 2024-01-31`. Empty for a name without letters and digits.
 */
export function titleFromName(name: string): string {
  const words = name
    .slice(0, MAX_LENGTH)
    .normalize('NFC')
    .replace(ENDINGS, '')
    .split(/[\s_]+/)
    .flatMap(part => part.split(WITH_SIGNS))
    .flatMap(part => (WITH_SIGNS.test(part) ? [part] : part.split(/[-.+]+/).flatMap(wordsOf)))
    .filter(word => word !== '')
  const title = words.join(' ')
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** The words of a part without signs: a capital or a number begins a new one. */
function wordsOf(part: string): readonly string[] {
  return part.split(/(?<=\p{Ll}{2})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u).flatMap(word => {
    if (ONE_WORD.test(word)) return [word.length < 5 ? word.toUpperCase() : word]
    const [, letters = '', digits = ''] = /^(\p{L}{2,})(\d+)$/u.exec(word) ?? []
    if (letters !== '') return [letters, digits]
    const [, number = '', rest = ''] = /^(\d+)(\p{L}{3,})$/u.exec(word) ?? []
    return number !== '' ? [number, rest] : [word]
  })
}
